import type { Model } from '../catalog/model'
import type { ApiError } from '../errors'
import type { AccessListName, AccessLists } from '../platform/access-lists'

/** The parts of a caller that decide which models it may call. */
export interface ModelCaller {
  userId: string
  /** The lists of its key; null for everything. */
  accessLists: AccessLists | null
}

/** The models that the list shows to a caller. */
export interface Offered {
  all: readonly Model[]
  find: (id: string) => Model | undefined
  findCallable: () => Promise<readonly Model[]>
  refusalOf: (model: Model) => { reason: string; message: string }
  /** The list of the caller's key that refuses a call for a model, undefined where none does. */
  refusingListOf: (model: Model) => AccessListName | undefined
  /** Adds the names like an unknown one that the caller may call to the error about it. */
  suggest: (error: ApiError<'invalid_model' | 'model_not_found'>, name: string) => Promise<ApiError>
}

/** Finds the models of an account, or of a key of it with lists. Rejects with `gateway_unavailable`. */
export type ModelsFor = (userId: string, accessLists: AccessLists | null) => Promise<Offered>
