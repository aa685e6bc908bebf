const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const TIME = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})'
/** The three forms of a date in HTTP; the second and third are old, but all must be read. */
const FORMS = [
  `^[a-z]{3}, (?<day>[0-9]{2}) (?<month>[a-z]{3}) (?<year>[0-9]{4}) ${TIME} gmt$`,
  `^[a-z]{6,9}, (?<day>[0-9]{2})-(?<month>[a-z]{3})-(?<year>[0-9]{2}) ${TIME} gmt$`,
  `^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ 0-9][0-9]) ${TIME} (?<year>[0-9]{4})$`,
].map((form) => new RegExp(form, 'i'))

/** A date of HTTP in milliseconds; it is in UTC, also in the form that does not say so. `nowMs` decides of years with two digits. */
export function readHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups
    if (groups === undefined) continue
    const month = MONTHS.indexOf((groups.month as string).toLowerCase())
    const [day, hour, minute, second] = [groups.day, groups.hour, groups.minute, groups.second].map(Number) as [
      number,
      number,
      number,
      number,
    ]
    if (month < 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined
    return Date.UTC(fullYear(groups.year as string, nowMs), month, day, hour, minute, second)
  }
  return undefined
}

/** Two digits mean the year of that ending which is not more than 50 years ahead. */
function fullYear(text: string, nowMs: number): number {
  if (text.length === 4) return Number(text)
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(text)
  return year > thisYear + 50 ? year - 100 : year
}
