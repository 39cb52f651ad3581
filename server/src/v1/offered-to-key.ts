import type { Model } from '../catalog/model'
import type { ApiError } from '../errors'
import { isAllowedModel } from '../wire/model-id'

/** The parts of a caller that decide which models it may call. */
export interface ModelCaller {
  userId: string
  /** Null for all. */
  allowedModels: readonly string[] | null
}

/** The models of an account that the list shows. */
export interface Offered {
  all: readonly Model[]
  find: (id: string) => Model | undefined
  findCallable: () => Promise<readonly Model[]>
  refusalOf: (model: Model) => { reason: string; message: string }
  /** Adds the names like an unknown one that a key with `allowedModels` may call to the error about it. */
  suggest: (
    error: ApiError<'invalid_model' | 'model_not_found'>,
    name: string,
    allowedModels: readonly string[] | null,
  ) => Promise<ApiError>
}

/** Rejects with `gateway_unavailable`. */
export type ModelsFor = (userId: string) => Promise<Offered>

const notAllowedByKey = {
  reason: 'not_allowed_by_key',
  message: 'The allowed models of this API key do not include it.',
}

/** Returns the models of the caller's account; those that its key may not call are not callable. */
export async function offerToKey(
  { userId, allowedModels }: ModelCaller,
  modelsFor: ModelsFor,
): Promise<Offered> {
  const offered = await modelsFor(userId)
  if (allowedModels === null) return offered
  const allows = ({ id }: Model) => isAllowedModel(id, allowedModels)
  return {
    all: offered.all,
    find: offered.find,
    suggest: offered.suggest,
    findCallable: async () => (await offered.findCallable()).filter(allows),
    refusalOf: (model) => (allows(model) ? offered.refusalOf(model) : notAllowedByKey),
  }
}
