import { parseEmail } from '../../text/email.ts'
import { EMAIL, matching } from '../formats.ts'
import { group, orNull, text } from '../keys.ts'

export const authSettings = group(
  {
    admin_email: text({
      ...EMAIL,
      // The first start makes a user of it, and would end over one that no user can have.
      parse: (given) => (parseEmail(given) === undefined ? undefined : EMAIL.parse(given)),
      description: 'The first administrator, made when the database is empty.',
      default: 'admin@localhost.localdomain',
    }),
    admin_token: orNull(
      text({
        what: '32 to 128 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`',
        parse: matching(/^[A-Za-z0-9_-]{32,128}$/),
        description: 'A bearer token for the first administrator; null makes one up.',
        example: 'replace_me_with_32_or_more_random_characters',
        secret: 'all',
      }),
    ),
    api_key: orNull(
      text({
        what: '32 hexadecimal characters',
        parse: matching(/^[0-9a-fA-F]{32}$/),
        description: 'API key of the first key pair; null makes one up.',
        example: '0123456789abcdef0123456789abcdef',
        secret: 'all',
      }),
    ),
    application_key: orNull(
      text({
        what: '40 hexadecimal characters',
        parse: matching(/^[0-9a-fA-F]{40}$/),
        description: 'Application key of the first key pair; null makes one up.',
        example: '0123456789abcdef0123456789abcdef01234567',
        secret: 'all',
      }),
    ),
    encryption_key: orNull(
      text({
        what: '32 bytes as base64 or as 64 hexadecimal characters',
        parse: matching(/^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/),
        description:
          'Encrypts the key under which secrets such as those of second factors are stored; null keeps that key in the database as it is. Needed at every start once it was set.',
        example: 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
        secret: 'all',
      }),
    ),
  },
  {
    description:
      'The first administrator, read at the first start only (the database holds what counts later), and the key that protects stored secrets.',
  },
)
