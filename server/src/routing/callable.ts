import type { RoutingContext } from './candidate'
import type { Model } from '../catalog/model'
import type { Priceable } from '../catalog/owner-price'
import { isServable } from '../catalog/is-priced'
import type { Snapshot } from '../catalog/snapshot'

/** The reason that a model is not callable, for programs and for people. */
export interface NotCallable {
  reason: 'no_price' | 'no_connection' | 'platform_connections_off' | 'mapped_to_nothing'
  message: string
}

/** Filters the models that a call would reach now. */
export async function filterCallable(
  models: readonly Model[],
  billingOf: (model: Model) => unknown,
): Promise<Model[]> {
  const callable: Model[] = []
  for (const model of models) {
    const mode = billingOf(model)
    // Thousands of awaits of values that are ready would take longer than the rest.
    if ((mode instanceof Promise ? await mode : mode) !== null) callable.push(model)
  }
  return callable
}

/** The callable models of accounts without connections of their own depend on the catalogue and the settings alone. */
const common = new WeakMap<Snapshot, { open: Priceable; models: Promise<readonly Model[]> }>()

export function findCallableByAll(
  { snapshot, open }: Omit<RoutingContext, 'rotation'>,
  callable: () => Promise<readonly Model[]>,
): Promise<readonly Model[]> {
  const known = common.get(snapshot)
  if (known?.open === open) return known.models
  const models = callable()
  common.set(snapshot, { open, models })
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
