import { type Command, Option } from 'commander'

/** Flags that stand for a setting; the last word over the environment and the settings file. */
const STORAGE_FLAGS = {
  dataDir: {
    flag: '--data-dir <directory>',
    path: 'storage.data_dir',
    help: 'where the SQLite file and secrets are kept',
  },
  databaseUrl: {
    flag: '--database-url <url>',
    path: 'storage.database_url',
    help: 'postgres://… instead of the SQLite file',
  },
} as const

const SERVER_FLAGS = {
  host: { flag: '--host <address>', path: 'server.host', help: 'address to listen on' },
  port: { flag: '--port <number>', path: 'server.port', help: 'port for HTTP (0 takes any free one)' },
  grpcPort: { flag: '--grpc-port <number>', path: 'server.grpc_port', help: 'port for gRPC (0 takes any free one)' },
  baseUrl: { flag: '--base-url <url>', path: 'server.base_url', help: 'public address of this server' },
  logLevel: {
    flag: '--log-level <level>',
    path: 'telemetry.log_level',
    help: 'trace, debug, info, warn, error, fatal or silent',
  },
} as const

const ALL_FLAGS: Record<string, { flag: string; path: string; help: string }> = { ...STORAGE_FLAGS, ...SERVER_FLAGS }

export function withStorageFlags(command: Command): Command {
  return addFlags(command, Object.values(STORAGE_FLAGS))
}

export function withServerFlags(command: Command): Command {
  return addFlags(command, Object.values(ALL_FLAGS))
}

function addFlags(command: Command, flags: { flag: string; help: string }[]): Command {
  command.addOption(new Option('--config <file>', 'settings file (YAML)'))
  for (const { flag, help } of flags) command.addOption(new Option(flag, help))
  return command
}

/** What the user wrote on the command line, by setting path. */
export function flagsOf(command: Command): { configFile?: string; flags: Record<string, string> } {
  const given = command.optsWithGlobals() as Record<string, string | undefined>
  const flags: Record<string, string> = {}
  for (const [name, { path }] of Object.entries(ALL_FLAGS)) {
    const value = given[name]
    if (value !== undefined) flags[path] = value
  }
  return { configFile: given.config, flags }
}
