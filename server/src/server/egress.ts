import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { CrashingEgress } from './crash'
import type { Storage } from './storage'
import { ConnectionHealth } from '../catalog/connection-health'
import type { Config, Timers } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { Egress } from '../upstream/http/egress'
import type { GatewayTransport } from '../upstream/http/gateway-call'
import { GuardedEgress } from '../upstream/http/guarded-egress'
import { Names } from '../upstream/http/names'
import { Transport } from '../upstream/http/transport'
import { Credentials } from '../providers/credentials'
import { tokenUrlVariable } from '../providers/registry'
import type { BreakerChange } from '../routing/breakers'
import { readInstallationSecret } from '../platform/db/installation-secret'
import { Resilience } from '../routing/resilience'
import { AccountIdentifiers } from '../shared-credentials/account-identifiers'
import type { LiveSettings } from '../platform/settings/live-settings'

/** The timeout of a request to a cloud for an access token. */
const tokenMs = 10_000

interface Dependencies {
  config: Config
  timers: Timers
  settings: LiveSettings
  storage: Storage
  log: Logger
  crashAt: CrashAt | undefined
  gateways: Pick<GatewayTransport, 'takes' | 'lookUp'>
}

/** Creates the egress of requests: transports, credentials, identifiers and circuit breakers. */
export async function createUpstreamServices(dependencies: Dependencies) {
  const { egress, guarded } = createEgress(dependencies)
  const credentials = createCredentials(dependencies, egress)
  const identifiers = await createIdentifiers(dependencies)
  const resilience = createResilience(dependencies)
  return { egress, guarded, credentials, identifiers, resilience }
}

/** Creates the identifiers of accounts, which every node derives from the same secret. */
async function createIdentifiers({
  storage: { database, installation },
  log,
}: Pick<Dependencies, 'storage' | 'log'>): Promise<AccountIdentifiers> {
  const { sealingKeys } = installation
  try {
    return new AccountIdentifiers(
      await readInstallationSecret(database.query, sealingKeys, 'provider-identifiers'),
    )
  } catch (err) {
    // Without the key that sealed it the server runs, as it does with other secrets that do not open.
    log.error(
      { err },
      'the secret of provider identifiers cannot be read: they change until it can',
    )
    return new AccountIdentifiers(randomBytes(32).toString('base64url'))
  }
}

/** Creates the credentials of clouds, which are derived from stored ones. */
function createCredentials({ config }: Dependencies, egress: Egress): Credentials {
  const tokenUrl = config.environment[tokenUrlVariable]
  return new Credentials({
    send: (call) => egress.send({ ...call, url: tokenUrl ?? call.url, owner: null }),
    now: () => Date.now(),
    deadline: () => AbortSignal.timeout(tokenMs),
  })
}

/** Logs a provider's failure for the operator, once when its circuit breaker opens and once when it closes. */
function logBreakerChange(
  log: Logger,
  { candidate, accountId, isOpen, openMs }: BreakerChange,
): void {
  const { connection, provider, model } = candidate
  const subject = {
    provider: provider.key,
    model: model.id,
    connectionId: connection.id,
    owner: connection.owner,
    ...(accountId !== null && { accountId }),
  }
  const scope = accountId === null ? '' : ' for one account'
  if (isOpen)
    log.warn(
      { ...subject, openMs },
      `circuit breaker open: a failing connection is skipped${scope}`,
    )
  else log.info(subject, `circuit breaker closed: a connection works again${scope}`)
}

/** Creates the circuit breakers of candidates, and the part of their state that is stored with connections. */
const createResilience = ({ config, storage, log, gateways }: Dependencies) =>
  new Resilience({
    isReachable: ({ connection: { gatewayId }, provider, model }) =>
      gatewayId === null || gateways.takes(gatewayId, provider.key, model.upstreamModel),
    loadState: ({ connection: { gatewayId } }) =>
      gatewayId === null ? undefined : gateways.lookUp(gatewayId),
    now: () => performance.now(),
    maxOpenMs: config.breakerMs,
    onChange: (change) => logBreakerChange(log, change),
    health: new ConnectionHealth({
      db: storage.database.query,
      onError: (err) => log.warn({ err }, 'the state of a connection could not be stored'),
    }),
  })

function createEgress({ config, timers, settings, crashAt }: Dependencies) {
  const { baseUrl, host, userEndpointPorts: ports } = config
  const ownHosts = baseUrl === undefined ? [host] : [host, new URL(baseUrl).hostname]
  const privateNetworks = () => settings.current.allowedPrivateNetworks
  const guarded = new GuardedEgress({
    timers,
    rules: { ports, ownHosts, privateNetworks },
    names: new Names(),
    transport: new Transport(),
  })
  const egress = crashAt
    ? new CrashingEgress(timers, { guarded }, crashAt)
    : new Egress(timers, { guarded })
  return { egress, guarded }
}
