import { AppError } from '../../platform/errors/app-error.ts'

export function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}
