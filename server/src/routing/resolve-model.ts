import { findCandidates, explainNoCandidates, findModel } from './candidate'
import { shortlistMembers, type PassedMember } from './collections'
import { findModelRefusal, toListRefusal } from './model-access'
import { resolveList } from './model-list'
import { resolveProviderListed } from './provider-listed'
import type { Question, Resolution, Routing } from './resolution'
import { resolveName, type NameMeaning } from './resolve-name'
import { isUnknownName, rejectWithSuggestions, type UnknownNameError } from './suggest-names'
import type { Model } from '../catalog/model'
import { ApiError } from '../errors'

/**
 * Resolves a name for its caller, for calls and previews alike. For models of the catalogue without a promise in the
 * steady state. Throws or rejects with the errors of checks 5 to 9 of contract 4.8, for collections also with those
 * of 10. An error about an unknown name says which names are like it.
 */
export function resolve(query: Question, routing: Routing): Resolution | Promise<Resolution> {
  try {
    const resolution = resolveExact(query, routing)
    if (!(resolution instanceof Promise)) return resolution
    return resolution.catch((thrown: unknown) => failWith(thrown, query, routing))
  } catch (thrown) {
    return failWith(thrown, query, routing)
  }
}

function failWith(thrown: unknown, query: Question, routing: Routing): Promise<Resolution> {
  if (isUnknownName(thrown)) return resolveUnknown(thrown, query, routing)
  throw thrown
}

/** The provider may have a model that is newer than the catalogue. */
async function resolveUnknown(
  error: UnknownNameError,
  query: Question,
  routing: Routing,
): Promise<Resolution> {
  const listedByProvider = await resolveProviderListed(query, routing)
  if (!listedByProvider) return rejectWithSuggestions(error, query, routing.names)
  return { ...listedByProvider, passedOver: none, isCollection: false }
}

function resolveExact(query: Question, routing: Routing): Resolution | Promise<Resolution> {
  const { name, context, first, bareNames, list } = query
  if (list) return resolveList(query, list, routing)
  const { snapshot, caller } = context
  const meaning = resolveName(name, { snapshot, caller, names: routing.names, first, bareNames })
  if (meaning instanceof Promise)
    return meaning.then((resolvedMeaning) => resolveMeaning(resolvedMeaning, query, routing))
  return resolveMeaning(meaning, query, routing)
}

const none: readonly PassedMember[] = []

function resolveMeaning(
  meaning: NameMeaning,
  query: Question,
  routing: Routing,
): Resolution | Promise<Resolution> {
  if (meaning.kind === 'collection') return fromCollection(meaning, query, routing)
  const { context, kinds } = query
  const { snapshot, caller, open } = context
  const model = findModel({ snapshot, catalog: caller.catalog, open }, meaning.id, kinds)
  const refusingList = findModelRefusal(model, caller.accessLists, snapshot)
  if (refusingList !== undefined) throw toListRefusal(model.id, refusingList)
  const all = findCandidates(model, context)
  const direct = meaning.kind === 'direct' ? meaning.ownerId : undefined
  const candidates =
    direct === undefined ? all : all.filter(({ connection }) => connection.owner === direct)
  const [first] = candidates
  if (first) {
    const { mapping } = meaning
    return { model: first.model, candidates, passedOver: none, mapping, isCollection: false }
  }
  if (direct !== undefined) throw toAccessDenied(model, 'The owner of this name has no connection')
  if (context.only !== undefined) throw toAccessDenied(model, 'The requested connection is not one')
  return explainNoCandidates(model, context, routing.accounts).then((denial) => {
    throw denial
  })
}

const toAccessDenied = ({ id }: Model, message: string) =>
  new ApiError('model_access_denied', {
    param: 'model',
    message: `${message} that serves "${id}".`,
    details: { model: id },
  })

async function fromCollection(
  { collection, mapping }: Extract<NameMeaning, { kind: 'collection' }>,
  { context, kinds, demands }: Question,
  { stats, rotation, random }: Routing,
): Promise<Resolution> {
  const { candidates, passedOver } = await shortlistMembers(collection, {
    context,
    kinds,
    demands,
    stats,
    random,
    nextIndex: () => rotation.take(collection.id),
  })
  const [first] = candidates
  if (!first) throw new Error(`${collection.id} resolved to no candidate`)
  const { model } = first
  // A legacy completion goes to models that complete or to models that chat, not to both.
  const alike = candidates.filter((candidate) => candidate.model.category === model.category)
  return { model, candidates: alike, passedOver, mapping, isCollection: true }
}
