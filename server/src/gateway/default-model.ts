import type { InboundRequest } from './request'
import type { GatewayPorts } from './ports'
import type { Principal } from '../auth/principal'
import type { Category, Model } from '../catalog/model'
import { isRetired } from '../catalog/retirement'
import type { Snapshot } from '../catalog/snapshot'
import { invalidRequest } from '../errors'
import { findCandidates } from '../routing/candidate'
import { PoolRotation } from '../routing/pool-rotation'
import type { ReadBody } from '../wire/json-body'

interface ModelCaller {
  call: Pick<InboundRequest, 'connectionId'>
  principal: Principal
  ports: Pick<GatewayPorts, 'catalog' | 'routing' | 'settings'>
}

/** Names the model of a request that names none: the first of a kind that its key may call. Throws `invalid_request`. */
export async function withDefaultModel(
  requestBody: ReadBody,
  kind: Category,
  { call, principal, ports }: ModelCaller,
): Promise<ReadBody> {
  const { body } = requestBody
  if (body['model'] !== undefined && body['model'] !== null) return requestBody
  const { catalog, routing, settings } = ports
  const { userId, accountId, accessLists } = principal
  const { snapshot } = catalog
  const context = {
    snapshot,
    caller: { userId, accountId, catalog: await routing.accounts.of(userId), accessLists },
    rotation: new PoolRotation(),
    open: settings.current,
    only: call.connectionId,
  }
  const model = modelsOfKind(snapshot, kind).find(
    (one) => !isRetired(one, Date.now()) && findCandidates(one, context).length > 0,
  )
  if (!model) {
    const message = `model: required, as no model for ${kind} is available to this key by default.`
    throw invalidRequest('model', 'required', message)
  }
  return { ...requestBody, body: { ...body, model: model.id } }
}

/** The models of a kind in the order of the catalogue, those that only simulate last. */
const modelsBySnapshot = new WeakMap<Snapshot, Map<Category, readonly Model[]>>()

function modelsOfKind(snapshot: Snapshot, kind: Category): readonly Model[] {
  const byKind = modelsBySnapshot.get(snapshot) ?? new Map<Category, readonly Model[]>()
  modelsBySnapshot.set(snapshot, byKind)
  const knownModels = byKind.get(kind)
  if (knownModels) return knownModels
  const models = [...snapshot.models.values()]
    .filter(({ category, enabled }) => category === kind && enabled)
    .toSorted((one, other) => Number(one.simulated) - Number(other.simulated))
  byKind.set(kind, models)
  return models
}
