import type { PricedAttempt } from './attempt'
import type { MeasuredTimers } from './measured-volume'
import type { Lowering } from './output-limit'
import type { GatewayPorts } from './ports'
import type { Principal } from '../auth/principal'
import type { Category, Model } from '../catalog/model'
import type { MediaNeed } from '../limits/media-need'
import type { TokenBounds } from '../metering/worst-case'
import type { JsonObject } from '../wire/json-body'

/** The parts of a validated request that are reserved for. */
export interface ReservableRequest {
  ports: Pick<
    GatewayPorts,
    'metering' | 'connectionRates' | 'rotation' | 'limits' | 'spendingLimits' | 'closerBounds'
  > & { timers: MeasuredTimers }
  principal: Pick<Principal, 'accountId' | 'userId' | 'limits'>
  /** Its tags that budgets count; absent or null for none. */
  budgetTags?: readonly string[] | null
  body: JsonObject
  pricedBody: JsonObject | undefined
  translation?: Lowering
  model: Model
}

/** The properties of an endpoint that decide the price of its requests. */
export interface PricedEndpoint<Request> {
  /** Selects the fields that its price covers. */
  priceKind: Category
  /** The upper bounds of the tokens that a request can make a model read and write. */
  volume: (attempt: PricedAttempt<Request>) => TokenBounds
  /** The long texts of the prompts, each of whose bytes `volume` takes for a token. */
  texts: (attempt: PricedAttempt<Request>) => readonly string[]
  /** The images or the sound that a request needs at most; absent where it is limited by its tokens alone. */
  mediaNeed?: (request: Request) => MediaNeed
}

/** Returns the images or the sound that a request needs; undefined for nearly all endpoints. */
export const readMediaNeed = <Request>(
  { mediaNeed }: Pick<PricedEndpoint<Request>, 'mediaNeed'>,
  request: Request,
): MediaNeed | undefined => mediaNeed?.(request)
