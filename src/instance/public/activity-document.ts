import type { InstanceData } from './instance-data.ts'

/** The only place where numbers travel as texts. */
export function activityDocument({ numbers, settings }: Pick<InstanceData, 'numbers' | 'settings'>) {
  const step = settings.activity_round_to
  const text = (count: number) => String(step === 1 ? count : Math.round(count / step) * step)
  return numbers.weeks.map(({ week, statuses, logins, registrations }) => ({
    week: String(week),
    statuses: text(statuses),
    logins: text(logins),
    registrations: text(registrations),
  }))
}
