import { POSTGRES_URL } from '../formats.ts'
import { flag, group, integer, orNull, path, text } from '../keys.ts'

export const storageSettings = group(
  {
    data_dir: path({ description: 'Folder for everything the server keeps on disk.', default: './data' }),
    database_url: orNull(
      text({
        ...POSTGRES_URL,
        description: 'A PostgreSQL database; null keeps everything in an SQLite file in the data folder.',
        example: 'postgres://commonplace:password@localhost:5432/commonplace',
        secret: 'url',
      }),
    ),
    auto_migrate: flag({
      description: 'Bring an older database up to date at start; else run `commonplace migrate`.',
      default: true,
    }),
    pool_size: integer({
      description: 'Most PostgreSQL connections of one process, beside two that listen and search vectors.',
      default: 10,
      min: 2,
      max: 1000,
    }),
  },
  { description: 'Where data is kept.' },
)
