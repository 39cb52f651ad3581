import { toFinishReason as toCommonReason, type FinishReason } from '../../wire/finish-reason'

const brokenReasons = new Set(['malformed_model_output', 'malformed_tool_use'])

/**
 * Returns undefined for a malformed answer of the model.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
 */
export const toFinishReason = (stopReason: string, hasCalls: boolean): FinishReason | undefined =>
  brokenReasons.has(stopReason) ? undefined : toCommonReason(stopReason, hasCalls)
