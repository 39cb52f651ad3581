import type { ImagePorts } from './image-fetch'
import type { UnansweredCharge } from './unanswered-use'
import type { UsageDrainPool } from './usage-drain-pool'
import type { Authenticator } from '../auth/authenticator'
import type { Catalog } from '../catalog/catalog'
import type { ConnectionRates } from '../limits/connection-rates'
import type { RateLimits } from '../limits/limits'
import type { EventLoopShares } from '../limits/event-loop-shares'
import type { CloserBounds } from '../metering/closer-bounds'
import type { Metering } from '../metering/metering'
import type { SpendingLimits } from '../metering/spending-limits'
import type { TokenCounter } from '../metering/token-counter'
import type { Timers } from '../platform/config/config'
import type { Credentials } from '../providers/credentials'
import type { RequestLogs } from '../request-logs/request-logs'
import type { Open } from '../routing/candidate'
import type { ConversationAffinity } from '../routing/conversation'
import type { PoolRotation } from '../routing/pool-rotation'
import type { Resilience } from '../routing/resilience'
import type { Routing } from '../routing/resolution'
import type { Deadline } from '../upstream/deadline'
import type { AccountIdentifiers } from '../shared-credentials/account-identifiers'
import type { LargeEvents } from '../upstream/large-events'
import type { Egress } from '../upstream/http/egress'
import type { GatewayTransport } from '../upstream/http/gateway-call'

/** The gateway's dependencies; main.ts creates them. */
export interface GatewayPorts {
  authenticator: Authenticator
  limits: RateLimits
  spendingLimits: SpendingLimits
  logs: RequestLogs
  metering: Metering
  catalog: Catalog
  routing: Routing
  /** The rotation in pools of connections. */
  rotation: PoolRotation
  /** The routes that served conversations. */
  affinity: ConversationAffinity
  connectionRates: ConnectionRates
  settings: { readonly current: Open & UnansweredCharge }
  egress: Egress
  gateways: GatewayTransport
  images: ImagePorts
  credentials: Credentials
  /** The identifiers by which providers know accounts that share a credential. */
  identifiers: AccountIdentifiers
  resilience: Resilience
  counter: TokenCounter
  /** Counts the tokens of requests whose hold by bytes cannot be paid. */
  closerBounds: CloserBounds
  timers: Timers
  /** The deadlines of all running requests: a graceful shutdown ends them by these. */
  deadlines: Set<Deadline>
  drains: UsageDrainPool
  /** The event loop's time, by owner. */
  loopShares: EventLoopShares
  /** The memory of large events of providers' streams. */
  largeEvents: LargeEvents
  /** The memory of large whole answers, until they are sent. */
  largeAnswers: LargeEvents
}
