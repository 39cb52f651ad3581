import type { RoutingContext } from './candidate'
import type { Model } from '../catalog/model'
import type { Priceable } from '../catalog/owner-price'
import { isServable } from '../catalog/is-priced'
import { isRetired } from '../catalog/retirement'
import type { Snapshot } from '../catalog/snapshot'

/** The reason that a model is not callable, for programs and for people. */
export interface NotCallable {
  reason:
    | 'no_price'
    | 'no_connection'
    | 'platform_connections_off'
    | 'mapped_to_nothing'
    | 'retired'
  message: string
}

/** Filters the models that a call would reach now. */
export async function filterCallable(
  models: readonly Model[],
  billingOf: (model: Model) => unknown,
): Promise<Model[]> {
  const callableModels: Model[] = []
  for (const model of models) {
    const mode = billingOf(model)
    // Thousands of awaits of values that are ready would take longer than the rest.
    if ((mode instanceof Promise ? await mode : mode) !== null) callableModels.push(model)
  }
  return callableModels
}

/** Models retire on a day of UTC. */
const dayMs = 86_400_000

interface CommonModels {
  open: Priceable
  day: number
  models: Promise<readonly Model[]>
}

/**
 * The callable models of accounts without connections of their own depend on the catalogue, the settings and the day
 * alone.
 */
const common = new WeakMap<Snapshot, CommonModels>()

export function findCallableByAll(
  { snapshot, open }: Omit<RoutingContext, 'rotation'>,
  findModels: () => Promise<readonly Model[]>,
): Promise<readonly Model[]> {
  const commonModels = common.get(snapshot)
  const day = Math.floor(Date.now() / dayMs)
  if (commonModels?.open === open && commonModels.day === day) return commonModels.models
  const models = findModels()
  common.set(snapshot, { open, day, models })
  return models
}

/** Explains the rejection of a call for a model, which its mapping may send to another name. */
export function explainNotCallable(
  model: Model,
  mappedTo: string | undefined,
  { snapshot, open }: Omit<RoutingContext, 'rotation'>,
): NotCallable {
  if (mappedTo !== undefined) {
    return {
      reason: 'mapped_to_nothing',
      message: `Your mapping routes calls for it to "${mappedTo}", which no connection available to you serves.`,
    }
  }
  const name = snapshot.providers.get(model.provider)?.name ?? model.provider
  if (isRetired(model, Date.now())) {
    return {
      reason: 'retired',
      message: `${name} has announced that it would switch this model off by now. Calls still go to it, and fail if it did.`,
    }
  }
  if (!snapshot.connections.has(model.provider)) {
    return {
      reason: 'no_connection',
      message: `There is no connection to ${name}. Add your own, or ask the operator to add one.`,
    }
  }
  if (!open.platformConnections) {
    return {
      reason: 'platform_connections_off',
      message: `The operator's connections are not available to accounts. Add your own connection to ${name}.`,
    }
  }
  return isServable(model)
    ? {
        reason: 'no_connection',
        message: `No connection to ${name} serves it. Add your own, or ask the operator to add one.`,
      }
    : {
        reason: 'no_price',
        message: `It has no price. The operator can set one, or allow all such models with the setting unpriced_models; your own connection can serve it.`,
      }
}
