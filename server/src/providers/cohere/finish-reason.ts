import { toFinishReason as toCommonReason, type FinishReason } from '../../wire/finish-reason'

/** Returns undefined for the words that stand for failure. @see https://docs.cohere.com/v2/reference/chat */
export const toFinishReason = (word: string, hasCalls: boolean): FinishReason | undefined =>
  word === 'ERROR_TOXIC' ? 'content_filter' : toCommonReason(word, hasCalls)
