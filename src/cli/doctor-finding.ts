export type FindingStatus = 'ok' | 'warning' | 'failed'

/** What one check found. Everything that is not ok says what to do about it. */
export interface Finding {
  check: string
  status: FindingStatus
  message: string
  advice?: string
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message }
}

export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: 'warning', message, advice }
}

export function failed(check: string, message: string, advice: string): Finding {
  return { check, status: 'failed', message, advice }
}
