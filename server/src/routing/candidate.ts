import type { ContinuedConversation } from './conversation'
import { toDiscoveredModel, toModel } from './discovered-model'
import type { MemberAttempt } from './member-attempt'
import { findModelRefusal } from './model-access'
import type { PoolRotation } from './pool-rotation'
import type { AccountCatalog, AccountCatalogs } from '../catalog/account-catalog'
import type { MemberTerms } from '../catalog/member-terms'
import { takesModel } from '../catalog/chat-kinds'
import type { Category, Model } from '../catalog/model'
import type { ProviderOffer } from '../catalog/offer'
import type { Priceable } from '../catalog/owner-price'
import { isServable } from '../catalog/is-priced'
import { findModelByName } from '../catalog/model-names'
import { applyUnpricedPolicy, type UnpricedModels } from '../catalog/unpriced-policy'
import type { ProviderConnection, Snapshot } from '../catalog/snapshot'
import { ApiError, invalidRequest } from '../errors'
import { toGatewayProvider } from '../providers/gateway-provider'
import type { Provider } from '../providers/provider'
import type { AccessLists } from '../platform/access-lists'
import { splitModelId } from '../wire/model-id'

/** The billing of an attempt. Source: contract 11.1. */
export interface Billing {
  mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'
  /** The ledger account that pays, null where none does; with `house`, the one that is not charged. */
  payer: string | null
  /** The organization of the connection, or of the pool that pays for the platform's; null where there is none. */
  organizationId: string | null
  /** The limits of that organization. */
  terms?: MemberTerms | undefined
  /** The house waives its charges, its fee included. */
  isWaived?: boolean
}

/** Whether the attempt is charged by the model's price, or free; else the payer of its provider pays. */
export const isByPrice = ({ mode }: Billing): boolean => mode !== 'byok' && mode !== 'org_pays'

/** Whether two candidates have the same model and payment. */
export const arePaidAlike = (one: Candidate, other: Candidate): boolean =>
  one.model === other.model &&
  one.billing.mode === other.billing.mode &&
  one.billing.payer === other.billing.payer &&
  one.billing.organizationId === other.billing.organizationId

/** A model on a connection that may be tried. */
export interface Candidate {
  model: Model
  provider: Provider
  connection: ProviderConnection
  billing: Billing
  /** The connection shares its pool's load, so that running requests count. */
  isPooled: boolean
  /** Set for a member of a collection: records its results. */
  member?: MemberAttempt | undefined
}

/** The caller, with its connections. */
export interface RoutingCaller {
  userId: string
  /** The account that pays unless an organization does. */
  accountId: string
  catalog: AccountCatalog
  /** The lists of what the caller's key may call; everything where absent. */
  accessLists?: AccessLists | null | undefined
}

/** The known models: the operator's, and those of the caller's connections. */
interface ModelSources {
  snapshot: Snapshot
  catalog: AccountCatalog
  open: Priceable
}

/**
 * Finds the model that a name means: one of the catalogue, or one that the caller's connections found. Throws
 * `invalid_model`, `model_not_found`, and `invalid_request` for a model of another kind than the endpoint's.
 */
export function findModel(
  { snapshot, catalog, open }: ModelSources,
  id: string,
  kinds: readonly Category[],
): Model {
  const modelName = splitModelId(id)
  const listedModel = snapshot.models.get(id)
  const foundModel = listedModel ? undefined : catalog.find(modelName.provider, modelName.name)
  const model =
    foundModel && snapshot.providers.has(foundModel.provider)
      ? toModel(foundModel, kinds, open)
      : (listedModel ?? findModelByName(snapshot, id))
  if (!model?.enabled) {
    throw new ApiError('model_not_found', {
      param: 'model',
      message: `Model "${id}" does not exist. GET /v1/models lists the available models.`,
    })
  }
  if (!takesModel(kinds, model, snapshot.providers.get(model.provider))) {
    throw invalidRequest(
      'model',
      'unsupported_by_model',
      `"${id}" is a model for ${model.category}, which this endpoint does not support.`,
    )
  }
  return model
}

/** The operator's settings at one moment. */
export interface Open extends Priceable {
  /** Whether the platform's connections are enabled. */
  platformConnections: boolean
  unpricedModels: UnpricedModels
  /** Whether accounts may leave out the provider of a model on endpoints whose names have one. */
  bareModelNames: boolean
}

export interface RoutingContext {
  snapshot: Snapshot
  caller: RoutingCaller
  open: Open
  rotation: PoolRotation
  /** The only connection that may serve, by its id; any where absent. */
  only?: string | undefined
  /** The conversation that is continued, for pools. */
  conversation?: ContinuedConversation | undefined
}

/**
 * The connections that may serve a model, in the order in which they are tried: the caller's own, those of the
 * caller's organizations, the platform's. Empty where there is none. Source: contract 10.1.
 */
export function findCandidates(model: Model, context: RoutingContext): Candidate[] {
  const all = findAllCandidates(model, context)
  return context.only === undefined
    ? all
    : all.filter(({ connection }) => connection.id === context.only)
}

function findAllCandidates(model: Model, context: RoutingContext): Candidate[] {
  const { snapshot, caller, open, rotation, conversation } = context
  if (findModelRefusal(model, caller.accessLists, snapshot) !== undefined) return []
  const provider = snapshot.providers.get(model.provider)
  if (!provider) return []
  const platform = open.platformConnections ? platformOf(model, provider, context) : []
  const offers = caller.catalog.offersOf(provider.key)
  if (offers.length === 0) return platform
  const isListed = snapshot.models.has(model.id)
  const onConnection = isListed ? () => model : toDiscoveredModel(model, open)
  const ownedCandidates = offers.flatMap((offer): Candidate[] => {
    const isPooled = offer.pool !== null
    return rotation.orderOf(offer, conversation).flatMap((connection) => {
      const own = onConnection(connection)
      // Without a price a member would pay nothing, against the organization's setting.
      if (!own || (offer.billing === 'member_pays' && !isServable(own))) return []
      return {
        model: own,
        provider: connection.gatewayId === null ? provider : toGatewayProvider(provider),
        connection,
        billing: billingOf(own, offer, caller),
        isPooled,
      }
    })
  })
  return [...ownedCandidates, ...platform]
}

function billingOf(
  model: Model,
  offer: ProviderOffer,
  { accountId, catalog }: RoutingCaller,
): Billing {
  const { billing: mode, organizationId } = offer
  const terms = organizationId === null ? undefined : catalog.termsIn(organizationId)
  if (model.isFree) return { mode: 'free', payer: null, organizationId, terms }
  const payer = mode === 'org_pays' ? organizationId : accountId
  return { mode, payer, organizationId, terms, isWaived: catalog.housePays && mode === 'byok' }
}

/** The billing of the platform's connections. */
function platformBilling({ accountId, catalog }: RoutingCaller): Billing {
  const { fundedBy, housePays } = catalog
  if (housePays) return { mode: 'house', payer: accountId, organizationId: null, isWaived: true }
  const terms = fundedBy === null ? undefined : catalog.termsIn(fundedBy)
  return { mode: 'platform', payer: fundedBy ?? accountId, organizationId: fundedBy, terms }
}

/** Neither an unknown price nor one of zero is free, unless the operator says so. */
function platformOf(listedModel: Model, provider: Provider, context: RoutingContext): Candidate[] {
  const { snapshot, caller, open } = context
  const model = applyUnpricedPolicy(listedModel, open.unpricedModels)
  const connections = isServable(model) ? snapshot.connections.get(provider.key) : undefined
  if (!connections || !snapshot.models.has(model.id)) return []
  return toPlatformCandidates(model, { provider, connections }, caller)
}

/** Offers a model on connections of the platform, as far as they serve it. */
export function toPlatformCandidates(
  model: Model,
  { provider, connections }: { provider: Provider; connections: readonly ProviderConnection[] },
  caller: RoutingCaller,
): Candidate[] {
  const billing: Billing = model.isFree
    ? { mode: 'free', payer: null, organizationId: null }
    : platformBilling(caller)
  return connections.flatMap((connection) => {
    const serves = !connection.onlyModels || connection.onlyModels.has(model.id)
    return serves ? [{ model, provider, connection, billing, isPooled: false }] : []
  })
}

/**
 * Explains that no connection serves a model to a caller: `organization_required` where an organization would, else
 * `model_access_denied`. Rejects with `gateway_unavailable`.
 */
export async function explainNoCandidates(
  model: Model,
  { snapshot, caller }: Pick<RoutingContext, 'snapshot' | 'caller'>,
  accounts: Pick<AccountCatalogs, 'isOfferedToOthers'>,
): Promise<ApiError> {
  if (await accounts.isOfferedToOthers(caller.userId, model.provider)) {
    return new ApiError('organization_required', {
      param: 'model',
      message: `"${model.id}" is available only to active members of the organizations that offer it.`,
    })
  }
  const name = snapshot.providers.get(model.provider)?.name ?? model.provider
  return new ApiError('model_access_denied', {
    param: 'model',
    message: isServable(model)
      ? `No connection available to you serves "${model.id}". Add your own connection to ${name}, or ask the operator to add one.`
      : `"${model.id}" has no price, so the platform does not serve it. The operator can set a price, or allow all such models with the setting unpriced_models; your own connection can serve it.`,
    details: { model: model.id },
  })
}
