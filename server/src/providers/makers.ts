import type { Provider } from './provider'
import { responsesModels } from './responses/models'
import {
  newCap,
  oldCap,
  openAiChatOnly,
  openAiCustomTools,
  openAiIdentifiers,
  openAiOnlyButCacheKey,
  openAiReasoning,
  plainEmbeddings,
  plainIdentifiers,
  defineProvider,
} from './define-provider'

const jinaRetrieval = { search_query: 'retrieval.query', search_document: 'retrieval.passage' }
const jinaSimilarity = { semantic_similarity: 'text-matching' }

/** Each generation of models was trained for tasks of its own. https://api.jina.ai/docs */
const jinaTasks = {
  '': jinaRetrieval,
  'jina-embeddings-v3': {
    ...jinaRetrieval,
    ...jinaSimilarity,
    classification: 'classification',
    clustering: 'separation',
  },
  'jina-embeddings-v4': {
    ...jinaRetrieval,
    ...jinaSimilarity,
    code_query: 'code.query',
    code_document: 'code.passage',
  },
  'jina-embeddings-v5': {
    ...jinaRetrieval,
    ...jinaSimilarity,
    classification: 'classification',
    clustering: 'clustering',
  },
}

/** Providers that serve models of their own. */
export const makers: readonly Provider[] = [
  defineProvider(['openai', 'OpenAI'], 'https://api.openai.com/v1', {
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://platform.openai.com',
    options: {
      // https://platform.openai.com/docs/api-reference/audio/createSpeech
      speech: { maxCharacters: 4096 },
      reasoningModels: openAiReasoning,
      responsesModels,
      takesResponses: true,
      // Fields of OpenRouter, whose clients send them unasked. OpenAI rejects those that it does not know.
      drop: ['transforms', 'session_id', 'include_reasoning'],
      chatOnlyModels: openAiChatOnly,
      customToolModels: openAiCustomTools,
      identifiers: openAiIdentifiers,
    },
  }),
  defineProvider(['anthropic', 'Anthropic'], 'https://api.anthropic.com', {
    dialect: 'anthropic',
    optionVariables: { prompt_caching: 'ANTHROPIC_PROMPT_CACHING' },
    authHeader: 'x-api-key',
    abort: 'stops',
    website: 'https://platform.claude.com',
    options: {
      paths: { models: '/v1/models?limit=1000' },
      // For the list of models; the adapter sends this header with each request.
      headers: { 'anthropic-version': '2023-06-01' },
    },
  }),
  defineProvider(['google', 'Google'], 'https://generativelanguage.googleapis.com/v1beta', {
    dialect: 'google',
    authHeader: 'x-goog-api-key',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://aistudio.google.com',
    options: { paths: { models: '/models?pageSize=1000' } },
  }),
  defineProvider(['cohere', 'Cohere'], 'https://api.cohere.com', {
    dialect: 'cohere',
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://dashboard.cohere.com',
    options: {
      paths: { models: '/v1/models?page_size=1000' },
      embeddings: { ...plainEmbeddings, batchLimit: 96 },
    },
  }),
  defineProvider(['mistral', 'Mistral AI'], 'https://api.mistral.ai/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://console.mistral.ai',
    options: {
      // Whatever is outside its schema is refused with 422, in messages too.
      // https://github.com/mistralai/platform-docs-public/issues/7
      drop: [
        ...openAiOnlyButCacheKey,
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'user',
        'store',
        'service_tier',
      ],
      dropFromMessages: ['name'],
      rename: { ...oldCap, seed: 'random_seed' },
      values: { tool_choice: { required: 'any' } },
      toolCallIds: 'nine_alphanumerics',
      // https://docs.mistral.ai/capabilities/reasoning
      historyReasoning: 'thinking_part',
      identifiers: { chat: ['prompt_cache_key'] },
      // https://docs.mistral.ai/capabilities/document_ai/document_qna
      files: 'document_url',
      developerRole: false,
      // Usage comes on the finish chunk, requested or not.
      streamUsage: false,
      embeddings: {
        ...plainEmbeddings,
        batchLimit: 256,
        dimensionsField: 'output_dimension',
        tasks: null,
      },
      // https://docs.mistral.ai/capabilities/guardrailing
      moderationImages: false,
      speech: { form: 'mistral' },
      transcriptionFormat: 'mistral',
    },
  }),
  defineProvider(['xai', 'xAI'], 'https://api.x.ai/v1', {
    abort: 'stops',
    website: 'https://console.x.ai',
    options: {
      // https://docs.x.ai/docs/guides/image-generations
      images: {
        size: 'ratio',
        edits: 'xai',
        ratios: ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1'],
        drop: [
          'stream',
          'partial_images',
          'quality',
          'style',
          'background',
          'moderation',
          'output_format',
          'output_compression',
        ],
      },
      rename: newCap,
      reasoningTokens: 'outside',
      identifiers: plainIdentifiers,
      reasoningModels: ['grok-3-mini', 'grok-4', 'grok-build', 'grok-code'],
      reasoningModelsDrop: ['stop', 'presence_penalty', 'frequency_penalty'],
    },
  }),
  defineProvider(['deepseek', 'DeepSeek'], 'https://api.deepseek.com', {
    abort: 'stops',
    website: 'https://platform.deepseek.com',
    options: {
      drop: ['seed'],
      rename: oldCap,
      historyReasoning: 'required',
      // It keeps caches apart by it. https://api-docs.deepseek.com/quick_start/rate_limit
      identifiers: { chat: ['user_id'] },
      developerRole: false,
    },
  }),
  defineProvider(['perplexity', 'Perplexity'], 'https://api.perplexity.ai', {
    abort: 'bills_all',
    website: 'https://docs.perplexity.ai',
    options: {
      drop: ['stop', 'seed'],
      rename: oldCap,
      developerRole: false,
      // By the size of the search context, of which the price has the highest.
      statesRequestFee: true,
    },
  }),
  defineProvider(['moonshot', 'Moonshot AI'], 'https://api.moonshot.ai/v1', {
    website: 'https://platform.moonshot.ai',
    options: {
      drop: ['seed'],
      rename: oldCap,
      clamp: { temperature: [0, 1] },
      // The thinking models want it back in a conversation with tools, the others ignore it.
      historyReasoning: 'reasoning_content',
      developerRole: false,
      toolSchemas: 'plain',
      // https://platform.moonshot.ai/docs/api/chat
      identifiers: { chat: ['safety_identifier', 'prompt_cache_key'] },
    },
  }),
  defineProvider(['zai', 'Z.ai'], 'https://api.z.ai/api/paas/v4', {
    keyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    embeddings: 'yes',
    website: 'https://z.ai',
    options: {
      rename: oldCap,
      // https://docs.z.ai/guides/capabilities/thinking-mode
      historyReasoning: 'reasoning_content',
      developerRole: false,
      // https://docs.z.ai/api-reference/llm/chat-completion
      identifiers: { chat: ['user_id'] },
      embeddings: plainEmbeddings,
    },
  }),
  defineProvider(
    ['dashscope', 'Alibaba Cloud'],
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    {
      optionVariables: { prompt_caching: 'DASHSCOPE_PROMPT_CACHING' },
      embeddings: 'yes',
      abort: 'bills_all',
      website: 'https://www.alibabacloud.com/en/product/modelstudio',
      options: {
        drop: ['frequency_penalty'],
        rename: oldCap,
        developerRole: false,
        // https://www.alibabacloud.com/help/en/model-studio/context-cache
        cacheControl: true,
        streamOnlyModels: ['qwq', 'qvq', 'qwen-omni', 'qwen3-omni', 'qwen3-30b', 'qwen3-235b'],
        embeddings: { ...plainEmbeddings, batchLimit: 10 },
      },
    },
  ),
  defineProvider(['minimax', 'MiniMax'], 'https://api.minimax.io/v1', {
    abort: 'bills_all',
    website: 'https://platform.minimax.io',
    options: { developerRole: false },
  }),
  defineProvider(['voyage', 'Voyage AI'], 'https://api.voyageai.com/v1', {
    embeddings: 'only',
    website: 'https://www.voyageai.com',
    options: {
      rerankFormat: 'voyage',
      embeddings: {
        batchLimit: 1000,
        base64: true,
        tokenArrays: false,
        dimensionsField: 'output_dimension',
        // It cuts texts that are too long, unless told otherwise.
        defaults: { truncation: false },
        tasks: {
          field: 'input_type',
          words: { '': { search_query: 'query', search_document: 'document' } },
        },
        images: { models: ['voyage-multimodal'], format: 'voyage' },
      },
    },
  }),
  defineProvider(['jina', 'Jina AI'], 'https://api.jina.ai/v1', {
    embeddings: 'only',
    website: 'https://jina.ai/embeddings',
    // The field that requests base64 has another name there, `embedding_type`.
    options: {
      embeddings: {
        ...plainEmbeddings,
        batchLimit: 512,
        tasks: { field: 'task', words: jinaTasks },
        images: { models: ['jina-embeddings-v4', 'jina-clip'], format: 'jina' },
      },
    },
  }),
  defineProvider(['bfl', 'Black Forest Labs'], 'https://api.bfl.ai/v1', {
    authHeader: 'x-key',
    // https://docs.bfl.ai/api_integration: there is no request that cancels a task.
    abort: 'bills_all',
    website: 'https://dashboard.bfl.ai',
    options: { images: { form: 'bfl' } },
  }),
  defineProvider(['stability', 'Stability AI'], 'https://api.stability.ai', {
    website: 'https://platform.stability.ai',
    options: { images: { form: 'stability' } },
  }),
  defineProvider(['deepgram', 'Deepgram'], 'https://api.deepgram.com/v1', {
    authScheme: 'Token',
    website: 'https://console.deepgram.com',
    options: { speech: { form: 'deepgram' }, transcriptionFormat: 'deepgram' },
  }),
  defineProvider(['elevenlabs', 'ElevenLabs'], 'https://api.elevenlabs.io/v1', {
    authHeader: 'xi-api-key',
    website: 'https://elevenlabs.io/app/developers',
    options: { speech: { form: 'elevenlabs' }, transcriptionFormat: 'elevenlabs' },
  }),
]
