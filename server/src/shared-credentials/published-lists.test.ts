import { describe, expect, test } from 'bun:test'
import { mediaFields, messageFields, partFields } from './chat-messages'
import { anthropicBetas, anthropicVersions, openAiBetas } from './forwarded-headers'
import {
  compatibleLists,
  providerLists,
  publishedLists,
  refusedElsewhere,
  type SharedFormat,
} from './field-lists'
import type { SharedFate } from './media-field-lists'
import { messageBlocks, messageTools, withoutDate } from './messages-body'
import { responseItems, responseTools } from './responses-body'
import { expectInDocs, toTable } from '../../testing/wire/docs-table'
import { PublishedTypes } from '../../testing/wire/published-types'

/**
 * What the newest SDKs of OpenAI and Anthropic can send, read from their types, the beta ones too: a new version that
 * knows more fails here until it is decided whether it passes on a credential that accounts share.
 */
const chat = new PublishedTypes('openai', 'resources/chat/completions/completions.d.ts')
const completions = new PublishedTypes('openai', 'resources/completions.d.ts')
const embeddings = new PublishedTypes('openai', 'resources/embeddings.d.ts')
const moderations = new PublishedTypes('openai', 'resources/moderations.d.ts')
const images = new PublishedTypes('openai', 'resources/images.d.ts')
const speech = new PublishedTypes('openai', 'resources/audio/speech.d.ts')
const transcriptions = new PublishedTypes('openai', 'resources/audio/transcriptions.d.ts')
const responses = new PublishedTypes('openai', 'resources/responses/responses.d.ts')
const betaResponses = new PublishedTypes('openai', 'resources/beta/responses/responses.d.ts')
const messages = new PublishedTypes('@anthropic-ai/sdk', 'resources/messages/messages.d.ts')
const betaMessages = new PublishedTypes(
  '@anthropic-ai/sdk',
  'resources/beta/messages/messages.d.ts',
)
const betas = new PublishedTypes('@anthropic-ai/sdk', 'resources/beta/beta.d.ts')

const merged = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].toSorted()

const published: Readonly<Record<SharedFormat, readonly string[]>> = {
  chat: chat.fieldsOf('ChatCompletionCreateParamsBase'),
  completion: completions.fieldsOf('CompletionCreateParamsBase'),
  embedding: embeddings.fieldsOf('EmbeddingCreateParams'),
  moderation: moderations.fieldsOf('ModerationCreateParams'),
  // Of Cohere's references, v1 and v2: the SDKs of OpenAI and Anthropic have none.
  // https://docs.cohere.com/v1/reference/rerank https://docs.cohere.com/v2/reference/rerank
  rerank: [
    'documents',
    'max_chunks_per_doc',
    'max_tokens_per_doc',
    'model',
    'query',
    'rank_fields',
    'return_documents',
    'top_n',
  ],
  // `images` is the form of edits that are JSON.
  image: merged(
    images.fieldsOf('ImageGenerateParamsBase'),
    images.fieldsOf('ImageEditParamsBase'),
    ['images'],
  ),
  speech: speech.fieldsOf('SpeechCreateParams'),
  transcription: transcriptions.fieldsOf('TranscriptionCreateParamsBase'),
  messages: merged(
    messages.fieldsOf('MessageCreateParamsBase'),
    betaMessages.fieldsOf('MessageCreateParamsBase'),
  ),
  responses: merged(
    responses.fieldsOf('ResponseCreateParamsBase'),
    betaResponses.fieldsOf('ResponseCreateParamsBase'),
  ),
}

test.each(Object.entries(published))(
  'finding S24: every published field of a %s request has its fate on a shared credential',
  (format, fields) => {
    const decided = Object.entries(publishedLists).find(([name]) => name === format)?.[1] ?? {}
    expect(Object.keys(decided).toSorted()).toEqual([...fields].toSorted())
  },
)

/** Those that do not pass, each for its reason. */
const withheld = {
  blocks: ['container_upload'], // names a file
  tools: ['advisor'], // another model answers
  items: ['agent_message', 'item_reference', 'multi_agent_call', 'multi_agent_call_output'],
  betas: [
    // What the provider's account holds and administers.
    'admin-user-sign-out',
    'agent-memory',
    'analytics-usage-cost',
    'ce-plugins',
    'ce-claude-code-managed-settings',
    'ce-user-management',
    'dreaming',
    'files-api',
    'experimental-claude-tag',
    'managed-agents',
    'mcp-tunnels',
    'message-batches',
    'message-threads',
    'skills',
    'spend-limit-reads',
    'telemetry-destinations',
    'user-profiles',
    'user-profiles-billing',
    'webhooks',
    'cache-diagnosis',
    // Another model answers, or earlier requests of the account count.
    'advisor-tool',
    'fallback-credit',
    'server-side-fallback',
  ],
}

describe('finding S24: published fields that do not pass on a shared credential', () => {
  test('blocks', () => {
    const types = merged(
      messages.typesOf('ContentBlockParam'),
      betaMessages.typesOf('BetaContentBlockParam'),
    )
    expect(types.filter((type) => !messageBlocks.has(type))).toEqual(withheld.blocks)
  })

  test('tools of messages', () => {
    const types = merged(messages.typesOf('ToolUnion'), betaMessages.typesOf('BetaToolUnion'))
    const kinds = merged(types.map(withoutDate))
    expect(kinds.filter((kind) => !messageTools.has(kind))).toEqual(withheld.tools)
  })

  test('items', () => {
    const types = merged(
      responses.typesOf('ResponseInputItem'),
      betaResponses.typesOf('BetaResponseInputItem'),
    )
    expect(types.filter((type) => !responseItems.has(type))).toEqual(withheld.items)
  })

  test('no tool of responses', () => {
    const types = merged(responses.typesOf('Tool'), betaResponses.typesOf('BetaTool'))
    expect(types.filter((type) => !responseTools.has(type))).toEqual([])
  })

  test('betas', () => {
    const kinds = merged(
      betas
        .membersOf('AnthropicBeta')
        .filter((name) => name.startsWith("'"))
        .map((name) => withoutDate(name.slice(1, -1))),
    )
    expect(kinds.filter((kind) => !anthropicBetas.has(kind))).toEqual(withheld.betas.toSorted())
    expect(openAiBetas.has('responses_multi_agent=v1')).toBe(false)
  })
})

test('finding S24: every published field of a message and of its parts passes, or is a reference', () => {
  const ofMessages = ['Developer', 'System', 'User', 'Assistant', 'Tool', 'Function'].flatMap(
    (role) => chat.fieldsOf(`ChatCompletion${role}MessageParam`),
  )
  expect(ofMessages.filter((field) => !messageFields.has(field))).toEqual([])
  const parts = {
    text: 'ChatCompletionContentPartText',
    image_url: 'ChatCompletionContentPartImage',
    input_audio: 'ChatCompletionContentPartInputAudio',
    refusal: 'ChatCompletionContentPartRefusal',
    file: 'ChatCompletionContentPart.File',
  }
  for (const [type, name] of Object.entries(parts)) {
    const fields = chat.fieldsOf(name)
    expect([type, fields.filter((field) => !partFields.get(type)?.has(field))]).toEqual([type, []])
  }
  // The published types have no sound by its URL, which vLLM has.
  expect([...mediaFields.keys()]).toEqual(['image_url', 'input_audio', 'audio_url', 'file'])
})

const fateTexts: Readonly<Record<SharedFate, string>> = {
  passed: 'yes',
  omitted: 'named',
  refused: 'refused',
  reference: 'refused',
}

const formats: readonly SharedFormat[] = [
  'chat',
  'completion',
  'embedding',
  'moderation',
  'rerank',
  'messages',
  'responses',
]

function fateIn(format: SharedFormat, field: string): string {
  if (compatibleLists[format].includes(field)) return 'yes'
  const fates = new Map(Object.entries(publishedLists[format]))
  const fate = fates.get(field) ?? new Map(Object.entries(refusedElsewhere)).get(field)
  return fate ? fateTexts[fate] : ''
}

const code = (names: Iterable<string>) => [...names].map((name) => `\`${name}\``).join(', ')

const write = process.env['WRITE_DOCS'] === '1'

test('the table of shared credentials in docs/guides/parameters.md matches the code; WRITE_DOCS=1 writes it', async () => {
  const fields = merged(
    ...formats.flatMap((format) => [Object.keys(publishedLists[format]), compatibleLists[format]]),
  )
  const head = [
    'Field',
    'Chat',
    'Completions',
    'Embeddings',
    'Moderations',
    'Rerank',
    'Messages',
    'Responses',
  ]
  const rows = fields.map((field) => [
    `\`${field}\``,
    ...formats.map((format) => fateIn(format, field)),
  ])
  const place = { page: 'guides/parameters.md', name: 'The table of shared credentials', write }
  await expectInDocs(place, toTable(head, rows))
})

test('the table of other passing fields is current; WRITE_DOCS=1 writes it', async () => {
  const rows = [
    [
      'fields of no SDK that are rejected by name, not left out',
      code(Object.keys(refusedElsewhere)),
    ],
    ['fields of messages in a chat', code(messageFields)],
    ['types of content parts in a chat', code(partFields.keys())],
    ['types of content blocks in Messages', code(messageBlocks)],
    ['types of tools in Messages, with any date', code(messageTools)],
    ['types of items in Responses', code(responseItems)],
    ['types of tools in Responses', code(responseTools)],
    ['values of `anthropic-beta`, with any date', code(anthropicBetas)],
    ['values of `anthropic-version`', code(anthropicVersions)],
    ['values of `openai-beta`', code(openAiBetas)],
    ...Object.entries(providerLists).map(([key, names]) => [`fields at \`${key}\``, code(names)]),
  ]
  const place = { page: 'guides/parameters.md', name: 'The table of what else passes', write }
  await expectInDocs(place, toTable(['On a shared credential', 'Names'], rows))
})
