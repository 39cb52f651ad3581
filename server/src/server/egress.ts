import type { Logger } from 'pino'
import { CrashingEgress } from './crash'
import type { Storage } from './storage'
import { ConnectionHealth } from '../catalog/connection-health'
import type { Config, Timers } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { Egress } from '../upstream/http/egress'
import type { GatewayWay } from '../upstream/http/gateway-call'
import { GuardedEgress } from '../upstream/http/guarded-egress'
import { Names } from '../upstream/http/names'
import { Transport } from '../upstream/http/transport'
import { Credentials } from '../providers/credentials'
import { tokenUrlVariable } from '../providers/registry'
import type { BreakerChange } from '../routing/breakers'
import { Resilience } from '../routing/resilience'
import type { LiveSettings } from '../platform/settings/live-settings'

/** The timeout of a request to a cloud for an access token. */
const tokenMs = 10_000

interface Parts {
  config: Config
  timers: Timers
  settings: LiveSettings
  storage: Storage
  log: Logger
  crashAt: CrashAt | undefined
  gateways: Pick<GatewayWay, 'takes' | 'look'>
}

/** Opens the egress of requests: transports, credentials and circuit breakers. */
export function openWaysOut(parts: Parts) {
  const { egress, guarded } = openEgress(parts)
  const credentials = openCredentials(parts, egress)
  return { egress, guarded, credentials, resilience: openResilience(parts) }
}

/** Opens the credentials of clouds, which are derived from stored ones. */
function openCredentials({ config }: Parts, egress: Egress): Credentials {
  const tokenUrl = config.environment[tokenUrlVariable]
  return new Credentials({
    send: (call) => egress.send({ ...call, url: tokenUrl ?? call.url, owner: null }),
    now: () => Date.now(),
    deadline: () => AbortSignal.timeout(tokenMs),
  })
}

/** Logs a provider's failure for the operator, once when its circuit breaker opens and once when it closes. */
function tellChange(log: Logger, { candidate, accountId, isOpen, openMs }: BreakerChange): void {
  const { connection, provider, model } = candidate
  const subject = {
    provider: provider.key,
    model: model.id,
    connectionId: connection.id,
    owner: connection.owner,
    ...(accountId !== null && { accountId }),
  }
  const scope = accountId === null ? '' : ' for one account'
  if (isOpen) log.warn({ ...subject, openMs }, `a connection is failing and is passed over${scope}`)
  else log.info(subject, `a connection that was failing works again${scope}`)
}

/** Opens the circuit breakers of candidates, and the part of their state that is stored with connections. */
const openResilience = ({ config, storage, log, gateways }: Parts) =>
  new Resilience({
    isThere: ({ connection: { gatewayId }, provider, model }) =>
      gatewayId === null || gateways.takes(gatewayId, provider.key, model.upstreamModel),
    look: ({ connection: { gatewayId } }) =>
      gatewayId === null ? undefined : gateways.look(gatewayId),
    now: () => performance.now(),
    maxOpenMs: config.breakerMs,
    onChange: (change) => tellChange(log, change),
    health: new ConnectionHealth({
      db: storage.database.query,
      onError: (err) => log.warn({ err }, 'the state of a connection could not be written down'),
    }),
  })

function openEgress({ config, timers, settings, crashAt }: Parts) {
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
