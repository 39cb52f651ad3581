import type { Category, Model } from '../catalog/model'

/** The names that OpenRouter has for outputs; it has none for moderation. */
const outputOf: Readonly<Record<Category, string>> = {
  chat: 'text',
  completion: 'text',
  embedding: 'embeddings',
  moderation: 'moderation',
  rerank: 'rerank',
  image: 'image',
  speech: 'speech',
  transcription: 'transcription',
}

/** The names that LiteLLM has for kinds of models. */
export const modeOf: Readonly<Record<Category, string>> = {
  chat: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  moderation: 'moderation',
  rerank: 'rerank',
  image: 'image_generation',
  speech: 'audio_speech',
  transcription: 'audio_transcription',
}

type ModelFacts = Pick<Model, 'category' | 'capabilities' | 'pricing'>

function inputsOf({ category, capabilities: { vision, audio } }: ModelFacts): string[] {
  if (category === 'transcription') return ['audio']
  // Of a model that speaks, the capability is its output.
  const hears = audio && category !== 'speech'
  return ['text', ...(vision ? ['image'] : []), ...(hears ? ['audio'] : [])]
}

/** Lists the outputs of a model. A chat model that has a price for pictures or sound in its answers makes them. */
function outputsOf({ category, pricing }: ModelFacts): string[] {
  if (category !== 'chat') return [outputOf[category]]
  return [
    'text',
    ...(pricing?.imageOutput === undefined ? [] : ['image']),
    ...(pricing?.audioOutput === undefined ? [] : ['audio']),
  ]
}

/**
 * Describes what a model reads and makes, in the words of OpenRouter.
 * @see https://openrouter.ai/docs/client-sdks/typescript/models/outputmodality
 */
export function toArchitecture(model: ModelFacts) {
  const [input, output] = [inputsOf(model), outputsOf(model)]
  return {
    modality: `${input.join('+')}->${output.join('+')}`,
    input_modalities: input,
    output_modalities: output,
    tokenizer: 'Other',
    instruct_type: null,
  }
}
