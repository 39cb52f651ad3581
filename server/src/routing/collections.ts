import { findCandidates, findModel, type Candidate, type RoutingContext } from './candidate'
import type { MemberStats } from './member-stats'
import { MemberAttempt } from './member-attempt'
import { findModelRefusal, toListRefusal } from './model-access'
import { unknownModel } from './resolve-name'
import { unmet, type RequestNeed } from './needs'
import { orderMembers, type Chance, type MemberChoice } from './strategies'
import { takesModel } from '../catalog/chat-kinds'
import { collectionPrefix, type Collection, type CollectionMember } from '../catalog/collection'
import { toPriceSum, type RankingUse } from '../catalog/comparable-price'
import type { Category, Model, Pricing, Rates } from '../catalog/model'
import { selectPrice, minuteOf } from '../catalog/price-tiers'
import { ApiError, invalidRequest, type ErrorCode } from '../errors'
import type { AccessListName } from '../platform/access-lists'

/** A member that is skipped, and the reason. */
export interface PassedMember {
  model: string
  provider: string
  connectionId: null
  reason: ErrorCode | 'cooling_down'
}

/** The demands of a request on the models that may serve it. */
export interface Demands {
  needs: readonly RequestNeed[]
  /** The error about its size for a model, undefined where it fits. */
  misfit: (model: Model) => ApiError | undefined | Promise<ApiError | undefined>
  /** Estimates the tokens of its prompt; called only where prices depend on them. */
  promptTokens: () => number
  /** Estimates the use of a ranking; absent of any other request. */
  ranking?: () => RankingUse | undefined
}

/** The candidates of a collection. */
export interface Shortlist {
  candidates: Candidate[]
  passedOver: PassedMember[]
}

interface Choice {
  context: RoutingContext
  /** The categories of models that the endpoint serves. */
  kinds: readonly Category[]
  demands: Demands
  stats: MemberStats
  random: () => number
  /** Called only where members take turns. */
  nextIndex: () => number | Promise<number>
  /** The name in errors, where it is not that of the collection. */
  name?: string
}

/** A usable member, and the candidates that serve it. */
interface Usable extends MemberChoice {
  isStandIn: boolean
  model: Model
  candidates: readonly Candidate[]
}

/** The maximum number of skipped members that are reported: more would only lengthen the record. */
const maxReported = 20

/**
 * The candidates of a collection's members: of each in its turn the first, then of each the second. Rejects where
 * none is left: `model_not_found` where none of its members exists, `model_access_denied` where no
 * connection serves one, else the error of the request for them. Source: contract 10.4.
 */
export async function shortlistMembers(collection: Collection, choice: Choice): Promise<Shortlist> {
  const name = choice.name ?? `${collectionPrefix}${collection.name}`
  const selection = new MemberSelection()
  for (const member of collection.members) {
    const callableMember = findCallable(member, choice, selection)
    if (!callableMember) continue
    const misfit =
      misfitOf(callableMember.model, choice) ?? choice.demands.misfit(callableMember.model)
    const rejection = misfit instanceof Promise ? await misfit : misfit
    examine(callableMember, rejection, { collection, choice, selection })
  }
  const usableMembers = selection.firstChoice()
  if (usableMembers.length === 0) throw selection.refusalFor(name)
  const preferredMember = preferredOf(collection, usableMembers, choice)
  const orderedMembers = withFirst(
    preferredMember,
    orderMembers(collection, usableMembers, await chanceOf(collection, choice)),
  )
  for (const member of usableMembers) {
    if (!orderedMembers.includes(member)) selection.pass(member.model, 'cooling_down')
  }
  const maxRounds = Math.max(...orderedMembers.map(({ candidates }) => candidates.length))
  const candidates: Candidate[] = []
  for (let round = 0; round < maxRounds; round++) {
    for (const member of orderedMembers) {
      const candidate = member.candidates[round]
      if (candidate) candidates.push(observe(candidate, collection, choice))
    }
  }
  return { candidates, passedOver: selection.passedOver }
}

/** The member that served the conversation, unless the collection's order is fixed. */
function preferredOf(
  { strategy }: Collection,
  members: readonly Usable[],
  { context }: Choice,
): Usable | undefined {
  if (strategy === 'priority' || strategy === 'lowest_cost' || members.length < 2) return undefined
  const id = context.conversation?.preferredRoute?.modelId
  return members.find(({ model, isCoolingDown }) => model.id === id && !isCoolingDown)
}

/** Takes a turn where members take turns, unless a conversation continues. */
async function chanceOf(
  { strategy }: Collection,
  { context, random, nextIndex }: Choice,
): Promise<Chance> {
  const conversation = context.conversation?.isContinued === true ? context.conversation : undefined
  const isRotated = strategy === 'round_robin' && !conversation
  return { random, nextIndex: isRotated ? await nextIndex() : 0, conversation }
}

const withFirst = <Item>(first: Item | undefined, items: readonly Item[]): readonly Item[] =>
  first === undefined ? items : [first, ...items.filter((item) => item !== first)]

/** Keyed by the credential's owner too: one owner's bad key does not affect another's requests. */
const keyOf = ({ id }: Collection, { model, connection }: Candidate) =>
  `${id} ${model.id} ${connection.owner ?? ''}`

const observe = (
  candidate: Candidate,
  collection: Collection,
  { stats, context }: Pick<Choice, 'stats' | 'context'>,
): Candidate => ({
  ...candidate,
  member: new MemberAttempt(stats, keyOf(collection, candidate), context.caller.accountId),
})

/** The members that have been examined. */
class MemberSelection {
  readonly usableMembers: Usable[] = []
  readonly passedOver: PassedMember[] = []
  /** The first of each kind, with the message about its member. */
  #misfit: ApiError | undefined
  #refusal: ApiError | undefined
  #isDenied = false

  /** All of them, or all but the stand-ins. */
  firstChoice(): Usable[] {
    const real = this.usableMembers.filter(({ isStandIn }) => !isStandIn)
    return real.length > 0 ? real : this.usableMembers
  }

  pass({ id, provider }: Model, reason: PassedMember['reason']): void {
    if (this.passedOver.length >= maxReported) return
    this.passedOver.push({ model: id, provider, connectionId: null, reason })
  }

  refuse(model: Model, error: ApiError): void {
    this.#misfit ??= error
    this.pass(model, error.code)
  }

  deny(model: Model, refusingList: AccessListName | undefined): void {
    if (refusingList === undefined) this.#isDenied = true
    else this.#refusal ??= toListRefusal(model.id, refusingList)
    this.pass(model, 'model_access_denied')
  }

  refusalFor(name: string): ApiError {
    if (this.#misfit) return this.#misfit
    if (!this.#isDenied) return this.#refusal ?? unknownModel(name)
    return new ApiError('model_access_denied', {
      param: 'model',
      message: `No connection available to you serves any model of "${name}".`,
      details: { model: name },
    })
  }
}

interface SelectionContext {
  collection: Collection
  choice: Choice
  selection: MemberSelection
}

/** Examines a member: it has to exist, and a connection has to serve it. */
function findCallable(
  member: CollectionMember,
  choice: Choice,
  selection: MemberSelection,
): CallableMember | undefined {
  const model = modelOf(member, choice)
  if (!model) return undefined
  const candidates = findCandidates(model, choice.context)
  const [first] = candidates
  if (first) return { member, model, candidates, first }
  const { caller, snapshot } = choice.context
  selection.deny(model, findModelRefusal(model, caller.accessLists, snapshot))
  return undefined
}

interface CallableMember {
  member: CollectionMember
  model: Model
  candidates: readonly Candidate[]
  first: Candidate
}

function examine(
  { member, model, candidates, first }: CallableMember,
  misfit: ApiError | undefined,
  { collection, choice, selection }: SelectionContext,
): void {
  if (misfit) return selection.refuse(model, misfit)
  const { stats, context } = choice
  const { capabilities } = first.model
  selection.usableMembers.push({
    ...stats.stateOf(keyOf(collection, first), context.caller.accountId),
    id: model.id,
    model,
    candidates,
    priority: member.priority,
    weight: member.weight,
    price: collection.strategy === 'lowest_cost' ? priceOf(first.model, choice) : 0n,
    hasTools: capabilities.tools,
    isStandIn: member.isStandIn === true,
  })
}

/** The price of input and output together, in the tier of the prompt's length and the time of day. */
function priceOf(model: Model, { demands }: Choice): bigint {
  const { isFree, pricing } = model
  if (isFree || !pricing) return 0n
  const rates = pricing.tiers === undefined ? pricing : ratesNow(pricing, demands)
  return toPriceSum(model, rates, demands.ranking?.())
}

function ratesNow(pricing: Pricing, demands: Demands): Rates {
  const { rates } = selectPrice(pricing, {
    promptTokens: demands.promptTokens(),
    serviceTier: undefined,
    minute: minuteOf(Date.now()),
  })
  return rates
}

/** Undefined where it is not in the catalogue any more. */
function modelOf(
  { modelId }: CollectionMember,
  { context, kinds: requestedKinds }: Choice,
): Model | undefined {
  const { snapshot, caller, open } = context
  const kind = snapshot.models.get(modelId)?.category
  const kinds = kind ? [kind] : requestedKinds
  try {
    return findModel({ snapshot, catalog: caller.catalog, open }, modelId, kinds)
  } catch {
    return undefined
  }
}

function misfitOf(model: Model, { context, kinds, demands }: Choice): ApiError | undefined {
  const { providers } = context.snapshot
  if (!takesModel(kinds, model, providers.get(model.provider))) {
    const message = `"${model.id}" is a model for ${model.category}, which this endpoint does not support.`
    return invalidRequest('model', 'unsupported_by_model', message)
  }
  const need = unmet(demands.needs, model)
  if (!need) return undefined
  const message = `${need.param}: "${model.id}" does not support it (${need.capability}).`
  return invalidRequest(need.param, 'unsupported_by_model', message)
}
