// Where the single executable begins: what bin/tollgate.mjs is for the sources.
import { askHealth } from './healthy'
import { agentEnvironment, engineEnvironment, ignoredProxies } from '../../bin/engine.mjs'
import { version } from '../../package.json'

const help = `Usage: tollgate [command]

  start         run the server (the default); --workers 4 for several processes on its port
  doctor        tell what is wrong here, and how to mend it
  migrate       bring the database up to date
  audit         check that the ledger is in order; --json for programs
  backup <file> write all of the database into a file
  restore <file> put a backup into a database
  rotate-keys   have the first key of ENCRYPTION_KEY wrap all stored secrets
  users, keys, credits, models, connections
                operate a server that runs; each has --help
  connect       lend models and tools of this machine to a Tollgate elsewhere; --help
  healthy       ask the server that runs here whether it lives; exit code 0 if so
  --help        this text
  --version     the version of Tollgate

DATA_DIR and other relative paths start where you stand.`

/** One program for all groups of commands, which reads the group's name from its arguments. */
const operate = (name: string) => {
  process.argv.splice(2, 0, name)
  return import('../../cli/src/main')
}

/** Each runs when it is imported, and reads its arguments from where the sources have them. */
const commands: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  start: () => import('../../server/src/main'),
  doctor: () => import('../../server/src/doctor'),
  migrate: () => import('../../server/src/migrate'),
  backup: () => import('../../server/src/backup'),
  restore: () => import('../../server/src/restore'),
  audit: () => import('../../server/src/audit'),
  'rotate-keys': () => import('../../server/src/rotate-keys'),
  users: operate,
  keys: operate,
  credits: operate,
  models: operate,
  connections: operate,
  connect: () => import('../../connect/src/main'),
  healthy: async () => {
    process.exitCode = await askHealth()
  },
}

/** The engine reads its settings when it starts: where they are others, it starts again, as the same process. */
function settle(name: string): void {
  const { environment, ignored } =
    name === 'connect'
      ? { environment: agentEnvironment(process.env), ignored: [] }
      : engineEnvironment(process.env)
  delete environment['TOLLGATE_LAUNCHER_PID']
  const isSettled = Object.entries(environment).every(([name, it]) => process.env[name] === it)
  if (isSettled && process.env['TOLLGATE_LAUNCHER_PID'] === undefined) return
  if (ignored.length > 0) console.error(ignoredProxies(ignored))
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment)
}

async function main([name = 'start', ...args]: readonly string[]): Promise<void> {
  if (name === '--help' || name === '-h') return console.log(help)
  if (name === '--version' || name === '-v') return console.log(version)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    console.error(`tollgate: There is no command "${name}". See tollgate --help.`)
    process.exitCode = 1
    return
  }
  settle(name)
  process.argv.splice(2, Infinity, ...args)
  await command(name)
}

await main(process.argv.slice(2))
