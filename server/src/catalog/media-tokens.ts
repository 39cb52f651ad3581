import type { Model } from './model'

/**
 * The maximum of tokens for parts of a message. Bytes prove nothing here: an address of 40 bytes may be a photograph,
 * a megabyte of base64 a thumbnail. Where a provider bills an image by size, the figure is the largest it scales one
 * down to. All figures are the vendors', each the highest of its kind.
 */
type Reader = Pick<Model, 'upstreamModel' | 'contextLength'>

/**
 * OpenAI: 8 tiles of 170 + 85, or up to 10,000 patches x 1.62 at `detail: original`; Anthropic 4,784;
 * Gemini 16 tiles of 258; Mistral 4,096; Qwen 16,384 patches; xAI 1,792; Llama 6,404.
 * https://platform.openai.com/docs/guides/images-vision https://ai.google.dev/gemini-api/docs/tokens
 * https://docs.claude.com/en/docs/build-with-claude/vision https://docs.x.ai/docs/guides/image-understanding
 * https://www.alibabacloud.com/help/en/model-studio/vision
 */
const tokensPerImage = 16_400

/** Only gpt-4o-mini counts 2,833 + 5,667 a tile, so that an image costs the same as on gpt-4o. */
const tokensPerDearImage = 48_200
const countsDear = /gpt-4o-mini/

/** Gemini counts 32 tokens a second, all others fewer; MP3 has at least 1,000 bytes a second. */
const soundBytesPerToken = 30

/** Formats for speech, such as Opus, can have less; 240 bytes a second are below their usual rates. */
const speechBytesPerToken = 10
const minSoundTokens = 1000

/** An earlier spoken answer that is referenced by its id: the longest that a model speaks. */
const tokensPerAudioTurn = 16_384

/** PDF: 100 pages, each read as an image and as text. https://platform.openai.com/docs/guides/pdf-files */
const tokensPerFile = 500_000

/** A message's parts that are not text. Lengths are of base64, as found in the body. */
export interface MediaLengths {
  images: number
  /** Sound as WAV or MP3. */
  soundLengths: readonly number[]
  /** Sound in any other format. */
  speechLengths: readonly number[]
  audioTurns: number
  fileLengths: readonly number[]
}

/** The media of nearly all requests: none. */
export const noMedia: MediaLengths = {
  images: 0,
  soundLengths: [],
  speechLengths: [],
  audioTurns: 0,
  fileLengths: [],
}

/** Returns the maximum of tokens that `media` cost; no model reads more than its context, nor is paid for it. */
export function boundMediaTokens(
  media: MediaLengths,
  { upstreamModel, contextLength }: Reader,
): number {
  if (media === noMedia) return 0
  const perImage = countsDear.test(upstreamModel) ? tokensPerDearImage : tokensPerImage
  let tokens = media.images * perImage + media.audioTurns * tokensPerAudioTurn
  for (const length of media.soundLengths) {
    tokens += minSoundTokens + Math.ceil(length / soundBytesPerToken)
  }
  for (const length of media.speechLengths) {
    tokens += minSoundTokens + Math.ceil(length / speechBytesPerToken)
  }
  // A file of plain text has at most as many tokens as bytes.
  for (const length of media.fileLengths) tokens += Math.max(tokensPerFile, length)
  return Math.min(tokens, contextLength ?? Infinity)
}
