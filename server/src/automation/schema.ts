import { z } from 'zod'
import { modelName, systemPrompt, toolNames } from './template-schema'
import { trimmed } from '../http/fields'
import { pageFields } from '../http/paging'
import { customIssue } from '../wire/field-error'
import { outputLimit, samplingFields, mapOf } from '../wire/fields'

const sessionTypes = ['chat', 'remote_chat', 'automation'] as const
export const statuses = ['active', 'paused', 'completed', 'cancelled', 'failed'] as const
const gatewayId = z.string().min(1).max(100)

/** Source: contract 8.1. */
export const NewSession = z
  .object({
    modelId: modelName
      .optional()
      .describe('Any `model` of a chat completion; the default is that of the template'),
    sessionType: z.enum(sessionTypes).default('chat'),
    gatewayId: gatewayId.optional().describe('For all types but `chat`'),
    connectionId: z.string().optional().describe('The only connection that requests are sent to'),
    templateId: z.string().optional(),
    systemPrompt: systemPrompt.optional(),
    name: z.string().trim().max(200).optional(),
    enabledTools: toolNames.optional(),
    disabledTools: toolNames.optional(),
    variables: mapOf(z.string().max(200), z.string().max(20_000), 200)
      .optional()
      .describe('Values of {{name}} in the texts of the template'),
  })
  .superRefine(({ sessionType, gatewayId: gateway, modelId, templateId }, ctx) => {
    if (modelId === undefined && templateId === undefined) {
      ctx.addIssue(customIssue('required', 'this field is required.', ['modelId']))
    }
    if (sessionType === 'chat' && gateway !== undefined) {
      ctx.addIssue(
        customIssue('conflict', 'not allowed for a session of type "chat".', ['gatewayId']),
      )
    }
    if (sessionType !== 'chat' && gateway === undefined) {
      ctx.addIssue(customIssue('required', 'required for this type of session.', ['gatewayId']))
    }
  })
  .meta({ ref: 'NewAutomationSession' })
export type NewSession = z.output<typeof NewSession>

export const ChangedSession = z
  .object({
    name: z.string().trim().max(200).nullable(),
    systemPrompt: systemPrompt.nullable(),
    modelId: modelName,
    enabledTools: toolNames.nullable(),
    disabledTools: toolNames,
    status: z.enum(['active', 'paused', 'cancelled']),
  })
  .partial()
  .meta({ ref: 'ChangedAutomationSession' })
export type ChangedSession = z.output<typeof ChangedSession>

// These lists have no cursors.
const pageQuery = { limit: pageFields.limit, offset: pageFields.offset }

/** The query of the list of sessions. */
export const SessionFilter = z.object({
  status: z.enum(statuses).optional().describe('Only sessions with this status'),
  sessionType: z.enum(sessionTypes).optional().describe('Only sessions of this type'),
  gatewayId: gatewayId.optional().describe('Only sessions of this self-hosted gateway'),
  ...pageQuery,
})
export type SessionFilter = Omit<z.output<typeof SessionFilter>, 'limit' | 'offset'>

export const ConversationPage = z.object(pageQuery)

export const Completion = z
  .object({ summary: trimmed(5000, 0).optional() })
  .meta({ ref: 'AutomationCompletion' })

export const NewMessage = z
  .object({
    content: z.string().min(1).max(100_000),
    role: z.enum(['user', 'system']).default('user'),
    stream: z.boolean().default(false).describe('Answer as server-sent events, as a chat does'),
    temperature: samplingFields.temperature,
    max_tokens: outputLimit,
  })
  .meta({ ref: 'NewAutomationMessage' })
export type NewMessage = z.output<typeof NewMessage>

export const Session = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    sessionType: z.enum(sessionTypes),
    status: z.enum(statuses),
    gatewayId: z.string().nullable(),
    modelId: z.string(),
    connectionId: z.string().nullable(),
    templateId: z.string().nullable(),
    systemPrompt: z.string().nullable(),
    enabledTools: z.array(z.string()).nullable().describe('Null for all'),
    disabledTools: z.array(z.string()),
    messageCount: z.int(),
    totalTokens: z.object({ input: z.int(), output: z.int() }),
    totalCost: z.number().describe('USD'),
    summary: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastActivityAt: z.iso.datetime().nullable(),
    completedAt: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'AutomationSession' })

const Pagination = z
  .object({ total: z.int(), limit: z.int(), offset: z.int(), hasMore: z.boolean() })
  .meta({ ref: 'AutomationPagination' })

export const SessionList = z
  .object({ sessions: z.array(Session), pagination: Pagination })
  .meta({ ref: 'AutomationSessionList' })

export const SessionMessage = z
  .object({
    id: z.string(),
    role: z.enum(['user', 'system', 'assistant', 'tool']),
    content: z.string().nullable(),
    tool_calls: z.array(z.looseObject({})).nullable(),
    tool_call_id: z.string().nullable(),
    tokens: z.int(),
    createdAt: z.iso.datetime(),
  })
  .meta({ ref: 'AutomationMessage' })
export type SessionMessage = z.output<typeof SessionMessage>

export const Conversation = z
  .object({ sessionId: z.string(), messages: z.array(SessionMessage), pagination: Pagination })
  .meta({ ref: 'AutomationConversation' })

export const Exchange = z
  .object({
    userMessage: SessionMessage,
    assistantMessage: SessionMessage,
    toolMessages: z.array(SessionMessage),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
    }),
  })
  .meta({ ref: 'AutomationExchange' })
