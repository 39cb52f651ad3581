import { failure, fine, warning, formatFinding, type DoctorFinding } from './finding'
import { readStoredConnections, type StoredConnections } from './stored-connections'
import { createEnvironmentConnections } from '../../catalog/from-environment'
import type { Config } from '../../platform/config/config'
import { Egress } from '../../upstream/http/egress'
import { verifyServer } from '../../platform/mail/smtp'
import { Credentials } from '../../providers/credentials'
import { providers as registry } from '../../providers/registry'
import { probe } from '../../upstream/probe'
import { tryReadFile } from '../../platform/try-read-file'

const timeoutMs = 15_000

/** Returns words for the connections in the database, empty where there are none. */
function formatStored({ platform, owned }: StoredConnections): string[] {
  const ofCustomers =
    owned === 1 ? '1 connection of customers' : `${owned} connections of customers`
  return [
    ...(platform.length > 0 ? [`stored connections: ${platform.join(', ')}`] : []),
    ...(owned > 0 ? [ofCustomers] : []),
  ]
}

function lackingProviders(stored: StoredConnections | undefined): DoctorFinding {
  const where = stored
    ? 'no connection is stored'
    : 'the database does not run, so what it stores is not known'
  const fix =
    'Set the key of one, such as OPENAI_API_KEY, or: tollgate connections create openai. ' +
    'A server that was started with other settings has its own.'
  return warning('providers', `no key of a provider is set in this environment, and ${where}`, fix)
}

/**
 * Reports the connections that the environment defines and those that the database stores; online, whether each provider
 * whose key is in the environment answers.
 */
export async function lookAtProviders(config: Config, isOnline: boolean): Promise<DoctorFinding[]> {
  const providers = registry.filter(({ dialect }) => dialect !== 'sandbox')
  const connections = createEnvironmentConnections(config.environment, providers, {
    readFile: tryReadFile,
  })
  const stored = await readStoredConnections(config)
  const inDatabase = stored ? formatStored(stored) : []
  if (connections.length === 0) {
    return [
      inDatabase.length > 0 ? fine('providers', inDatabase.join('; ')) : lackingProviders(stored),
    ]
  }
  if (!isOnline) {
    const names = connections.map(({ name }) => name).join(', ')
    return [
      fine(
        'providers',
        [names, ...inDatabase, '--online asks those of the environment'].join('; '),
      ),
    ]
  }
  const egress = new Egress({ connectMs: config.timers.connectMs })
  const credentials = new Credentials({
    send: (call) => egress.send({ ...call, owner: null }),
    now: () => Date.now(),
    deadline: () => AbortSignal.timeout(timeoutMs),
  })
  return Promise.all(
    connections.map(async (connection): Promise<DoctorFinding> => {
      const provider = providers.find(({ key }) => key === connection.provider)
      const name = `provider ${connection.provider}`
      if (!provider) return fine(name, 'not known')
      const result = await probe({ egress, credentials }, { provider, connection })
      if (result.success) return fine(name, `${result.message} (${result.latencyMs} ms)`)
      const fix = `Check ${connection.name}, and that this machine reaches ${connection.baseUrl}.`
      return failure(name, result.message, fix)
    }),
  )
}

/** Reports the mail server; online, whether it accepts our login. */
export async function lookAtMail({ mail }: Config, isOnline: boolean): Promise<DoctorFinding> {
  if (!mail) {
    const fix =
      'Set SMTP_URL and MAIL_FROM: invitations, alerts and resets of passwords go by mail.'
    return warning('mail', 'not set up: mails wait in the database', fix)
  }
  const { host, port } = mail.server
  if (!isOnline) return fine('mail', `${host}:${port}; --online asks it`)
  try {
    await verifyServer(mail)
    return fine('mail', `${host}:${port} accepts mail`)
  } catch (thrown) {
    return failure('mail', `${host}:${port}: ${formatFinding(thrown)}`, 'Check SMTP_URL.')
  }
}
