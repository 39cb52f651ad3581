import { shortlistMembers } from './collections'
import type { ModelList, Question, Resolution, Routing } from './resolution'
import { resolveName } from './resolve-name'
import type { Collection } from '../catalog/collection'
import { ApiError, invalidRequest } from '../errors'

/**
 * Resolves several names as the members of a collection that only this request has: those that cannot serve it are passed
 * over. Rejects with the error of the first name where none of them means a model, else as a collection does.
 */
export async function resolveList(
  query: Question,
  list: ModelList,
  routing: Routing,
): Promise<Resolution> {
  const names = [query.name, ...list.fallbacks]
  const modelIds = await findModelIds(names, query, routing)
  const { context, kinds, demands } = query
  const collection: Collection = {
    id: 'models',
    name: 'models',
    scope: 'individual',
    strategy: list.sort ?? 'priority',
    members: modelIds.map((modelId, priority) => ({ modelId, priority, weight: 1 })),
    createdAt: 0,
  }
  const { candidates, passedOver } = await shortlistMembers(collection, {
    context,
    kinds,
    demands,
    stats: routing.stats,
    random: routing.random,
    nextIndex: () => 0,
    name: names.join(', '),
  })
  const [first] = candidates
  if (!first) throw new Error('a list of models resolved to no candidate')
  const { model } = first
  const alike = candidates.filter((candidate) => candidate.model.category === model.category)
  return { model, candidates: alike, passedOver, mapping: undefined, isCollection: true }
}

/** Finds what the names mean; of a collection its members. Rejects where none means anything. */
async function findModelIds(
  names: readonly string[],
  { context, bareNames }: Question,
  routing: Routing,
): Promise<string[]> {
  const { snapshot, caller } = context
  const ids = new Set<string>()
  let first: unknown
  for (const name of names) {
    try {
      const scope = { snapshot, caller, names: routing.names, bareNames }
      const meaning = await resolveName(name, scope)
      if (meaning.kind === 'direct') throw withHandle(name)
      if (meaning.kind === 'model') ids.add(meaning.id)
      else for (const { modelId } of meaning.collection.members) ids.add(modelId)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.code === 'gateway_unavailable') throw thrown
      first ??= thrown
    }
  }
  if (ids.size === 0) throw first
  return [...ids]
}

const withHandle = (name: string) =>
  invalidRequest(
    'models',
    'not_allowed',
    `models: "${name}" names the connections of one account, and can only be called alone.`,
  )
