import { AppError } from '../../errors/app-error.ts'

export interface ListenPlace {
  host: string
  port: number
  /** As a sentence begins with it: `The gRPC port`. */
  what: string
  /** The setting of the port, and the variable that sets it. */
  setting: string
  variable: string
}

/** Why nothing can listen there, in one sentence that says which setting to change. Other failures stay as they are. */
export function listenFailure(error: unknown, { host, port, what, setting, variable }: ListenPlace): unknown {
  const sentence = (text: string) => new AppError('unavailable', text, { cause: error })
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return sentence(
        `${what} ${port} on ${host} is in use: stop the program that uses it, or set ${setting} (${variable}) to another`,
      )
    case 'EACCES':
    case 'EPERM':
      return sentence(`${what} ${port} may not be used by this user: set ${setting} (${variable}) to one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN': // nobody who knows the name answers
    case 'EAFNOSUPPORT': // IPv6, where the machine has none
    case 'EINVAL': // of one link, without the name of that link
      return sentence(`${host} is no address of this machine: set server.host (COMMONPLACE_HOST)`)
    default:
      return error
  }
}
