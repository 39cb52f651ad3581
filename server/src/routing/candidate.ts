import type { Category, Model } from '../catalog/model'
import { isServable } from '../catalog/priced'
import type { Connection, Snapshot } from '../catalog/snapshot'
import { ApiError, invalidRequest } from '../errors'
import type { Provider } from '../providers/provider'
import { splitModelId } from '../wire/model-id'

/** On whose account a candidate is asked. Source: api.md 21.3. */
export interface Billing {
  mode: 'platform' | 'byok' | 'org_pays' | 'member_pays' | 'free'
  /** The ledger account that pays; null where nobody does. */
  payer: string | null
  /** Whose connection it is, for one of an organization's. */
  organizationId: string | null
}

/** Whether it is the model's price that is charged, or free; else whoever pays the provider pays. */
export const isByPrice = ({ mode }: Billing): boolean => mode !== 'byok' && mode !== 'org_pays'

/** A model on a connection that may be tried. */
export interface Candidate {
  model: Model
  provider: Provider
  connection: Connection
  billing: Billing
}

/**
 * The model that a name means. Throws `invalid_model`, `model_not_found`, and `invalid_request` for
 * a model of another kind than the endpoint's.
 */
export function findModel(snapshot: Snapshot, id: string, kinds: readonly Category[]): Model {
  splitModelId(id)
  const model = snapshot.models.get(id)
  if (!model?.enabled) {
    throw new ApiError('model_not_found', {
      param: 'model',
      message: `There is no model "${id}". GET /v1/models lists what is there.`,
    })
  }
  if (!kinds.includes(model.category)) {
    throw invalidRequest(
      'model',
      'unsupported_by_model',
      `"${id}" is a model for ${model.category}, which this endpoint does not serve.`,
    )
  }
  return model
}

/** Whose connections may serve the caller. */
export interface Open {
  platformConnections: boolean
  /** The caller's account: pays for what the platform serves. */
  payer: string
}

const nobodyPays: Billing = { mode: 'free', payer: null, organizationId: null }

/**
 * The connections that may serve a model, in the order in which they are tried. Throws
 * `model_access_denied` when there is none.
 */
export function candidatesOf(
  snapshot: Snapshot,
  model: Model,
  { platformConnections, payer }: Open,
): Candidate[] {
  const provider = snapshot.providers.get(model.provider)
  // Neither an unknown price nor one of zero is free.
  const isPriced = isServable(model)
  const isOpen = isPriced && platformConnections
  const connections = isOpen && provider ? snapshot.connections.get(provider.key) : undefined
  const billing: Billing = model.isFree
    ? nobodyPays
    : { mode: 'platform', payer, organizationId: null }
  const candidates = (connections ?? []).flatMap((connection) => {
    const serves = !connection.onlyModels || connection.onlyModels.has(model.id)
    return provider && serves ? [{ model, provider, connection, billing }] : []
  })
  if (candidates.length > 0) return candidates
  throw new ApiError('model_access_denied', {
    param: 'model',
    message: isPriced
      ? `No connection serves "${model.id}" to you. The operator can add one for ${provider?.name}.`
      : `"${model.id}" has no price yet, so that it is not served. The operator can set one.`,
    details: { model: model.id },
  })
}
