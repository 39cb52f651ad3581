import { azureContentSafety } from './azure/content-safety'
import type { ModerationFormat } from './moderation-format'
import { openAiModerations } from './openai/moderations'
import type { RelayOptions } from './provider'

const formats: Readonly<Record<RelayOptions['moderationFormat'], ModerationFormat>> = {
  openai: openAiModerations,
  azure_content_safety: azureContentSafety,
}

/** Returns the format of a provider's moderations. */
export const moderationFormatOf = ({ moderationFormat }: RelayOptions): ModerationFormat =>
  formats[moderationFormat]
