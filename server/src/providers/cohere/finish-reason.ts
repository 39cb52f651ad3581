import { toFinishReason as toCommonReason, type FinishReason } from '../../wire/finish-reason'

/** Returns undefined for the words that stand for failure. @see https://docs.cohere.com/v2/reference/chat */
export const toFinishReason = (reason: string, hasCalls: boolean): FinishReason | undefined =>
  reason === 'ERROR_TOXIC' ? 'content_filter' : toCommonReason(reason, hasCalls)
