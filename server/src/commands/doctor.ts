import { readConfig, type Config } from '../platform/config/config'
import {
  formatFindings,
  failure,
  fine,
  warning,
  formatFinding,
  type DoctorFinding,
} from './doctor/finding'
import { lookAtJournal } from './doctor/journal'
import {
  lookAtBaseUrl,
  lookAtDataDirectory,
  lookAtDisk,
  lookAtFiles,
  lookAtPayments,
  lookAtProxies,
  lookAtRuntime,
} from './doctor/machine'
import { lookAtLogStore } from './doctor/log-store'
import { lookAtMail, lookAtProviders } from './doctor/online'
import { lookAtPort } from './doctor/port'
import { lookAtSaml } from './doctor/saml'
import { lookAtDatabase, lookAtRedis } from './doctor/stores'
import { providers } from '../providers/registry'
import { findMisspelt } from '../server/check-environment'
import { readEnvironment } from '../server/environment'
import { runCommand, type CommandOptions } from '../server/command'

const help = `Usage: tollgate doctor [--online] [--json]

Reports problems of this installation and how to fix them, with the settings of the server, which may run or not.
It changes nothing, and does not start the embedded database.

  --online     also contact the providers whose keys are set, and the mail server
  --json       the findings, for programs

Exit codes: 0 no problem, apart from warnings; 1 a problem; 2 invalid command line.
`

type Check = (
  config: Config,
) => DoctorFinding | DoctorFinding[] | Promise<DoctorFinding | DoctorFinding[]>

/** Turns a check that throws into a finding too. */
async function runCheck(name: string, check: () => ReturnType<Check>): Promise<DoctorFinding[]> {
  try {
    return [await check()].flat()
  } catch (thrown) {
    return [failure(name, `it could not be checked: ${formatFinding(thrown)}`, 'Fix that first.')]
  }
}

/** Reports variables that look like misspelt settings: a setting under a wrong name silently has its default. */
function lookAtVariables(): DoctorFinding[] {
  const misspelt = findMisspelt(process.env, providers)
  if (misspelt.length === 0) return [fine('variables', 'none looks misspelt')]
  return misspelt.map((text) => warning('variables', text, 'Correct its name, or unset it.'))
}

function configFinding(): DoctorFinding | Config {
  try {
    return readConfig(readEnvironment())
  } catch (thrown) {
    return failure('settings', formatFinding(thrown), 'Correct it, then run this again.')
  }
}

async function lookAround(isOnline: boolean): Promise<DoctorFinding[]> {
  const local = [
    lookAtRuntime(process.env),
    lookAtProxies(process.env),
    lookAtFiles(),
    ...lookAtVariables(),
  ]
  const config = configFinding()
  if ('state' in config) return [...local, config]
  const checks: Record<string, Check> = {
    address: lookAtBaseUrl,
    port: lookAtPort,
    'data directory': lookAtDataDirectory,
    disk: lookAtDisk,
    database: lookAtDatabase,
    journal: lookAtJournal,
    redis: lookAtRedis,
    'log store': lookAtLogStore,
    mail: (one) => lookAtMail(one, isOnline),
    payments: lookAtPayments,
    saml: lookAtSaml,
    providers: (one) => lookAtProviders(one, isOnline),
  }
  const all = await Promise.all(
    Object.entries(checks).map(([name, check]) => runCheck(name, () => check(config))),
  )
  return [...local, fine('settings', 'they can be read'), ...all.flat()]
}

async function run({ has }: CommandOptions): Promise<number> {
  const findings = await lookAround(has('online'))
  const count = (state: DoctorFinding['state']) =>
    findings.filter((one) => one.state === state).length
  const [failures, warnings] = [count('failure'), count('warning')]
  if (has('json')) process.stdout.write(`${JSON.stringify({ failures, warnings, findings })}\n`)
  else
    process.stdout.write(
      `${formatFindings(findings)}\n${failures} failures, ${warnings} warnings\n`,
    )
  return failures > 0 ? 1 : 0
}

await runCommand({ name: 'doctor', help, flags: ['online'], run })
// A connection that timed out may keep the process alive.
process.exit()
