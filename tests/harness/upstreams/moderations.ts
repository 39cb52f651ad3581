import type { Behaviour, Call, Json } from './call'
import { usageOf } from './answer'

/** The categories of OpenAI's models. https://platform.openai.com/docs/api-reference/moderations */
const openAiCategories = ['harassment', 'hate', 'illicit', 'self-harm', 'sexual', 'violence']
/** Those of Mistral's. https://docs.mistral.ai/capabilities/guardrailing */
const mistralCategories = ['sexual', 'hate_and_discrimination', 'violence_and_threats', 'pii']

const isPart = (item: unknown): boolean => typeof item === 'object'

/** The parts of one input have one result, texts one each. */
function inputsOf({ input }: Json): unknown[] {
  return Array.isArray(input) && !isPart(input[0]) ? input : [input]
}

const byCategory = <Value>(names: readonly string[], valueOf: (name: string) => Value) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)]))

const isIn = (input: unknown, name: string) => JSON.stringify(input).includes(name)

function judgeAsOpenAi(input: unknown): Json {
  return {
    flagged: openAiCategories.some((name) => isIn(input, name)),
    categories: byCategory(openAiCategories, (name) => isIn(input, name)),
    category_scores: byCategory(openAiCategories, (name) => (isIn(input, name) ? 0.97 : 1.5e-6)),
    category_applied_input_types: byCategory(openAiCategories, () => ['text']),
  }
}

/** Without `flagged`, and with names of its own. */
const judgeAsMistral = (input: unknown): Json => ({
  categories: byCategory(mistralCategories, (name) => isIn(input, name)),
  category_scores: byCategory(mistralCategories, (name) => (isIn(input, name) ? 0.9 : 0.0001)),
})

async function moderate(call: Call, fields: Json, judge: (input: unknown) => Json): Promise<void> {
  const { attempt, received, reply } = call
  const results = inputsOf(received.body).map(judge)
  attempt.answered = true
  await reply.json(200, { id: 'modr-970d409e', model: attempt.model, results, ...fields })
  attempt.complete = true
}

function usageIn({ attempt }: Call): Json {
  const { prompt_tokens, total_tokens } = usageOf(attempt.promptTokens, 0)
  return { usage: { prompt_tokens, total_tokens } }
}

/** Behaviours only moderations have. OpenAI counts no tokens; some servers of its format do. */
export const moderations: Record<string, Behaviour> = {
  ok: (call) => moderate(call, {}, judgeAsOpenAi),
  'moderate-counted': (call) => moderate(call, usageIn(call), judgeAsOpenAi),
  'moderate-mistral': (call) => moderate(call, {}, judgeAsMistral),
  'moderate-first': async ({ attempt, received, reply }) => {
    const results = inputsOf(received.body).slice(0, 1).map(judgeAsOpenAi)
    await reply.json(200, { id: 'modr-1', model: attempt.model, results })
  },
}
