import { toFinishReason as toCommonReason, type FinishReason } from '../../wire/finish-reason'

const broken = new Set(['malformed_model_output', 'malformed_tool_use'])

/**
 * Returns undefined for a malformed answer of the model.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
 */
export const toFinishReason = (word: string, hasCalls: boolean): FinishReason | undefined =>
  broken.has(word) ? undefined : toCommonReason(word, hasCalls)
