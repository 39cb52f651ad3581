import type { Transaction } from 'kysely'
import { maxDiscoveredModels } from './offer'
import type { Snapshot } from './snapshot'
import type { AnnouncedModel } from '../platform/db/gateway-schema'
import type { Schema } from '../platform/db/schema'
import type { Provider } from '../providers/provider'

/** Room for the provider's key and a slash in an id of 256 characters. */
const maxName = 215

/** Whether a name is valid for a call. */
export const isCallable = (name: string) =>
  /^[\w.:@/+~,=#()-]+$/.test(name) && name.length <= maxName

/**
 * Returns the names that the catalogue lists neither as its own nor as the provider's; a listed model has its price
 * there.
 */
export function filterUnlisted(
  snapshot: Snapshot,
  provider: Pick<Provider, 'key'>,
  names: readonly string[],
): string[] {
  const listed = new Set<string>()
  for (const { id, provider: key, upstreamModel } of snapshot.models.values()) {
    if (key !== provider.key) continue
    listed.add(upstreamModel)
    listed.add(id.slice(key.length + 1))
  }
  const newNames = [...new Set(names)].filter((name) => !listed.has(name) && isCallable(name))
  return newNames.slice(0, maxDiscoveredModels)
}

/** Replaces the models that are known only from a connection; those that stay keep their date. */
export async function replaceDiscoveredModels(
  trx: Transaction<Schema>,
  connectionId: string,
  names: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('connection_model')
    .where('connection_id', '=', connectionId)
    .$if(names.length > 0, (query) => query.where('name', 'not in', names))
    .execute()
  if (names.length === 0) return
  await trx
    .insertInto('connection_model')
    .values(names.map((name) => ({ connection_id: connectionId, name })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Stores the models that a connection's gateway serves of its provider, as the test of another connection does.
 * Resolves with their number.
 */
export async function replaceServedModels(
  trx: Transaction<Schema>,
  { id, provider }: { id: string; provider: string },
  { snapshot, served }: { snapshot: Snapshot; served: readonly AnnouncedModel[] },
): Promise<number> {
  const names = served.filter((model) => model.provider === provider).map(({ name }) => name)
  await replaceDiscoveredModels(trx, id, filterUnlisted(snapshot, { key: provider }, names))
  // Written in any case: this update notifies all nodes of the change.
  await trx
    .updateTable('connection')
    .set({ model_count: names.length })
    .where('id', '=', id)
    .execute()
  return names.length
}
