import {
  findCandidates,
  explainNoCandidates,
  findModel,
  type Candidate,
  type RoutingContext,
} from './candidate'
import type { CollectionRotation } from './collection-rotation'
import { shortlistMembers, type Demands, type PassedMember } from './collections'
import type { MemberStats } from './member-stats'
import { resolveName, type NameMeaning } from './resolve-name'
import { isUnknownName, rejectWithSuggestions } from './suggest-names'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { AccountNames } from '../catalog/account-names'
import type { Mapped, Mappings } from '../catalog/mapping'
import type { Category, Model } from '../catalog/model'
import { ApiError } from '../errors'
import { isAllowedModel } from '../wire/model-id'

/** The dependencies of resolving, the same for all requests. */
export interface Routing {
  accounts: AccountCatalogs
  names: AccountNames
  stats: MemberStats
  rotation: Pick<CollectionRotation, 'take'>
  random: () => number
}

/** The name in a caller's request. */
export interface Question {
  name: string
  context: RoutingContext
  /** The categories of models that the endpoint serves. */
  kinds: readonly Category[]
  /** Called only for a collection, whose members are judged by it. */
  demands: () => Demands
  /** Mappings tried before the caller's own: of a preview. */
  first?: Mappings | undefined
}

/** The resolution of a name: at least one candidate. */
export interface Resolution {
  /** The first candidate's model. */
  model: Model
  /** In the order in which they are tried; those of a collection have several models. */
  candidates: readonly Candidate[]
  passedOver: readonly PassedMember[]
  mapped: Mapped | undefined
  /** Its members were judged by the request's demands. */
  isCollection: boolean
}

/**
 * Resolves a name for its caller, for calls and previews alike. For models of the catalogue without a promise in the
 * steady state. Throws or rejects with the errors of checks 5 to 9 of contract 4.8, for collections also with those
 * of 10. An error about an unknown name says which names are like it.
 */
export function resolve(question: Question, routing: Routing): Resolution | Promise<Resolution> {
  try {
    const resolution = resolveExact(question, routing)
    if (!(resolution instanceof Promise)) return resolution
    return resolution.catch((thrown: unknown) => failWith(thrown, question, routing))
  } catch (thrown) {
    return failWith(thrown, question, routing)
  }
}

function failWith(thrown: unknown, question: Question, { names }: Routing): Promise<never> {
  if (isUnknownName(thrown)) return rejectWithSuggestions(thrown, question, names)
  throw thrown
}

function resolveExact(question: Question, routing: Routing): Resolution | Promise<Resolution> {
  const { name, context, first } = question
  const { snapshot, caller } = context
  const meaning = resolveName(name, { snapshot, caller, names: routing.names, first })
  if (meaning instanceof Promise)
    return meaning.then((known) => resolveMeaning(known, question, routing))
  return resolveMeaning(meaning, question, routing)
}

const none: readonly PassedMember[] = []

function resolveMeaning(
  meaning: NameMeaning,
  question: Question,
  routing: Routing,
): Resolution | Promise<Resolution> {
  if (meaning.kind === 'collection') return fromCollection(meaning, question, routing)
  const { context, kinds } = question
  const { snapshot, caller, open } = context
  const model = findModel({ snapshot, catalog: caller.catalog, open }, meaning.id, kinds)
  if (!isAllowedModel(model.id, caller.allowedModels ?? null)) throw toNotAllowed(model)
  const all = findCandidates(model, context)
  const direct = meaning.kind === 'direct' ? meaning.ownerId : undefined
  const candidates =
    direct === undefined ? all : all.filter(({ connection }) => connection.owner === direct)
  const [first] = candidates
  if (first) {
    const { mapped } = meaning
    return { model: first.model, candidates, passedOver: none, mapped, isCollection: false }
  }
  if (direct !== undefined) throw toAccessDenied(model, 'The owner of this name has no connection')
  if (context.only !== undefined) throw toAccessDenied(model, 'The requested connection is not one')
  return explainNoCandidates(model, context, routing.accounts).then((denial) => {
    throw denial
  })
}

const toNotAllowed = ({ id }: Model) =>
  new ApiError('model_access_denied', {
    param: 'model',
    message: `This API key may not call "${id}": its allowed models do not include it. GET /v1/models lists those that it may call.`,
    details: { model: id },
  })

const toAccessDenied = ({ id }: Model, message: string) =>
  new ApiError('model_access_denied', {
    param: 'model',
    message: `${message} that serves "${id}".`,
    details: { model: id },
  })

async function fromCollection(
  { collection, mapped }: Extract<NameMeaning, { kind: 'collection' }>,
  { context, kinds, demands }: Question,
  { stats, rotation, random }: Routing,
): Promise<Resolution> {
  const { candidates, passedOver } = await shortlistMembers(collection, {
    context,
    kinds,
    demands: demands(),
    stats,
    random,
    nextIndex: () => rotation.take(collection.id),
  })
  const [first] = candidates
  if (!first) throw new Error(`${collection.id} resolved to no candidate`)
  const { model } = first
  // A legacy completion goes to models that complete or to models that chat, not to both.
  const alike = candidates.filter((candidate) => candidate.model.category === model.category)
  return { model, candidates: alike, passedOver, mapped, isCollection: true }
}
