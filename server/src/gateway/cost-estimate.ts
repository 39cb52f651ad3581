import type { GatewayPorts } from './ports'
import { resolveModel } from './resolve'
import type { Principal } from '../auth/principal'
import { categories, writesText, type Model } from '../catalog/model'
import { findModelByName } from '../catalog/model-names'
import { isServable } from '../catalog/is-priced'
import { applyUnpricedPolicy } from '../catalog/unpriced-policy'
import { ApiError } from '../errors'
import { pricedUnits } from '../catalog/priced-units'
import {
  estimateAround,
  estimatePrompt,
  roughCharacters,
  collectPromptTexts,
  usualMediaTokens,
} from '../metering/estimate'
import { promptCharacters } from '../metering/prompt-characters'
import { quote, type Quote } from '../metering/quote'
import { estimateTokenNeed } from '../limits/token-need'
import type { Billing } from '../routing/candidate'
import type { CollectionRotation } from '../routing/collection-rotation'
import { PoolRotation } from '../routing/pool-rotation'
import { CallerChat } from '../wire/chat-request'
import { CompletionRequest } from '../wire/completion-request'
import type { CostQuestion, TextField } from '../wire/cost-question'
import {
  EmbeddingRequest,
  isImage,
  isTokenInput,
  partsOf,
  toInputs,
} from '../wire/embedding-request'
import { check, isObject, type JsonObject } from '../wire/json-body'
import { readPromptTexts } from '../wire/text-over-chat'

/** The cost that a request would have, and the account that would pay; null for none. */
export interface CostEstimate {
  modelId: string
  inputTokens: number
  outputTokens: number
  cost: Quote
  payer: string | null
  billingMode: Billing['mode']
}

export interface EstimatePorts extends Pick<GatewayPorts, 'catalog' | 'settings' | 'counter'> {
  routing: GatewayPorts['routing'] & { rotation: CollectionRotation }
  /** The platform's part of a price. */
  feeMillionths: () => number
}

/** As long as for `count_tokens`, where the count is the whole result. */
const countingMs = 5000

/**
 * Prices a request as a call for its model would be paid; calls no provider, holds no credit and takes no turn.
 * Rejects with `invalid_request` for texts that no endpoint takes, and as a call does for its names, except that any
 * unknown name is `model_not_found`.
 */
export async function estimateCost(
  query: CostQuestion,
  principal: Principal,
  ports: EstimatePorts,
): Promise<CostEstimate> {
  const { size } = query
  const text = 'field' in size ? textOf(query.model, size.field, size.value) : undefined
  const promptTokens = () => (text ? estimatePrompt(text.body) : 'input' in size ? size.input : 0)
  const { model, billing } = await targetOf({ ...query, promptTokens }, principal, ports)
  const tokens =
    text && 'field' in size
      ? {
          input: await inputTokensOf(text, model, ports),
          output: outputTokensOf(text, model, size.limit),
        }
      : { input: 0, output: 0, ...size }
  const characters = text &&
    pricedUnits(model.pricing)?.characters && {
      input: promptCharacters(text.body),
      output: roughCharacters(tokens.output),
    }
  const amounts = {
    ...tokens,
    ...(characters && { characters }),
    ...(text && { images: text.images }),
  }
  return {
    modelId: model.id,
    inputTokens: tokens.input,
    outputTokens: tokens.output,
    cost: quote({ model, billing }, amounts, ports.feeMillionths()),
    payer: billing.payer,
    billingMode: billing.mode,
  }
}

/** The countable content of a request. */
interface Text {
  body: JsonObject
  texts: readonly string[]
  /** Tokens that are known without counting. */
  around: number
  images: number
  /** Tokens of its images, unless the price charges images by the piece. */
  imageTokens: number
  answers: number
}

const noImages = { images: 0, imageTokens: 0 }

const imagesIn = ({ messages }: CallerChat): number =>
  messages
    .flatMap<unknown>(({ content }) => (Array.isArray(content) ? content : []))
    .filter((part) => isObject(part) && part['type'] === 'image_url').length

/** Readers of each endpoint's text. They throw `invalid_request`, as the endpoints do. */
const readers: Record<TextField, (body: JsonObject) => Omit<Text, 'body'>> = {
  messages: (body) => {
    const request = check(CallerChat, body)
    const prompt = collectPromptTexts(request)
    const around = estimateAround(prompt)
    return { ...noImages, texts: prompt.texts, around, images: imagesIn(request), answers: 1 }
  },
  prompt: (body) => {
    const { prompt } = check(CompletionRequest, body)
    const texts = readPromptTexts(prompt)
    if (texts) return { ...noImages, texts, around: 0, answers: texts.length }
    const isMany = Array.isArray(prompt) && Array.isArray(prompt[0])
    const answers = isMany ? prompt.length : 1
    return { ...noImages, texts: [], around: [prompt].flat(2).length, answers }
  },
  input: (body) => {
    const inputs = toInputs(check(EmbeddingRequest, body).input)
    if (isTokenInput(inputs)) {
      return { ...noImages, texts: [], around: inputs.flat().length, answers: 0 }
    }
    const parts = inputs.flatMap(partsOf)
    const texts = parts.flatMap((part) => (isImage(part) ? [] : [part.text]))
    const images = parts.length - texts.length
    return { texts, around: 0, images, imageTokens: images * usualMediaTokens, answers: 0 }
  },
}

function textOf(model: string, field: TextField, value: unknown): Text {
  const body = { model, [field]: value }
  return { body, ...readers[field](body) }
}

async function inputTokensOf(
  { body, texts, ...text }: Text,
  { pricing }: Model,
  { counter }: EstimatePorts,
) {
  const around = text.around + (pricing?.image === undefined ? text.imageTokens : 0)
  if (texts.length === 0) return around
  const countedTokens = await counter.count(texts, { deadlineMs: countingMs })
  return countedTokens === undefined ? estimatePrompt(body) : countedTokens + around
}

function outputTokensOf({ answers }: Text, model: Model, limit: number | undefined): number {
  if (!writesText(model.category)) return 0
  const output = limit === undefined ? undefined : { limit, field: 'max_tokens' }
  return estimateTokenNeed({ promptTokens: 0, answers }, { output }, model)
}

interface Target {
  model: Model
  billing: Billing
}

/** The demands of a request that does not exist yet. */
const noDemands = { needs: [], misfit: () => undefined }

/** Resolves the model that a call would try first, and its billing. */
async function targetOf(
  { model: name, promptTokens }: { model: string; promptTokens: () => number },
  principal: Principal,
  { catalog, settings, routing }: EstimatePorts,
): Promise<Target> {
  const { rotation } = routing
  const looking = {
    catalog,
    settings,
    rotation: new PoolRotation(),
    routing: { ...routing, rotation: { take: (id: string) => rotation.peek(id) } },
  }
  try {
    const query = { name, kinds: categories, demands: { ...noDemands, promptTokens } }
    const { candidates } = await resolveModel(query, principal, looking)
    const [first] = candidates
    if (!first) throw new Error(`${name} resolved to no candidate`)
    return first
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    if (thrown.code === 'invalid_model') throw toNotFound(thrown)
    const namedModel = thrown.status === 403 ? findModelByName(catalog.snapshot, name) : undefined
    const listedModel =
      namedModel && applyUnpricedPolicy(namedModel, settings.current.unpricedModels)
    // No provider serves it to the caller yet; its cost on the platform is known all the same.
    if (!listedModel?.enabled || !isServable(listedModel)) throw thrown
    return { model: listedModel, billing: platformOf(listedModel, principal) }
  }
}

/** Source: contract 1.4. */
const toNotFound = ({ param, message }: ApiError) =>
  new ApiError('model_not_found', { param, message })

const platformOf = ({ isFree }: Model, { accountId }: Principal): Billing => ({
  mode: isFree ? 'free' : 'platform',
  payer: isFree ? null : accountId,
  organizationId: null,
})
