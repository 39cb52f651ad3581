import type { z } from 'zod'
import { type Provider, RelayOptions } from './provider'
import { responsesModels } from './responses/models'

interface Row extends Partial<Omit<Provider, 'key' | 'name' | 'baseUrl' | 'options'>> {
  options?: z.input<typeof RelayOptions>
}

/** One provider with what most have in common: the OpenAI format, a Bearer key in `<KEY>_API_KEY`. */
function row([key, name]: readonly [key: string, name: string], baseUrl: string | null, own: Row) {
  return {
    key,
    name,
    dialect: 'openai',
    baseUrl,
    variables: {},
    authHeader: 'authorization',
    keyless: false,
    keyVariables: [`${variablePrefix(key)}_API_KEY`],
    embeddings: 'no',
    abort: 'unknown',
    pricesId: null,
    website: null,
    ...own,
    options: RelayOptions.parse(own.options ?? {}),
  } satisfies Provider
}

const variablePrefix = (key: string) => key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

/** The environment variable that replaces a provider's base URL: `OPENAI_BASE_URL`. */
export const baseUrlVariable = (key: string): string => `${variablePrefix(key)}_BASE_URL`

/** Where service accounts of a cloud get their tokens, in place of the address in their file. */
export const tokenUrlVariable = 'VERTEX_TOKEN_URL'

// What `max_completion_tokens` was called before, where the newer name is not known.
const oldCap = { max_completion_tokens: 'max_tokens' }
const newCap = { max_tokens: 'max_completion_tokens' }

// Compatible services take texts and give floats; we encode and decode for the caller.
const plainEmbeddings = { base64: false, tokenArrays: false }

// Coding agents always send some of these; APIs that refuse unknown fields do not know them.
const openAiOnly = ['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'verbosity']

const openAiReasoning = ['o1', 'o3', 'o4', 'gpt-5', 'gpt-6', 'gpt-daybreak', 'chat-latest']

/**
 * Who can be reached, and what is odd about each. Addresses and quirks were compared between the
 * vendors' documentation, client libraries and public catalogues. Embeddings are `yes` where the
 * vendor documents them in the OpenAI format; whether an abort ends billing is OpenRouter's
 * published list, except for local servers.
 */
export const providers: readonly Provider[] = [
  row(['openai', 'OpenAI'], 'https://api.openai.com/v1', {
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'openai',
    website: 'https://platform.openai.com',
    options: {
      reasoningModels: openAiReasoning,
      responsesModels,
      takesResponses: true,
      chatOnlyModels: [
        'gpt-audio',
        'gpt-4o-audio',
        'gpt-4o-mini-audio',
        'gpt-4o-search',
        'gpt-4o-mini-search',
      ],
    },
  }),
  row(['anthropic', 'Anthropic'], 'https://api.anthropic.com', {
    dialect: 'anthropic',
    authHeader: 'x-api-key',
    abort: 'stops',
    pricesId: 'anthropic',
    website: 'https://platform.claude.com',
    options: {
      paths: { models: '/v1/models?limit=1000' },
      // For the list of models; the adapter sends the same with each request.
      headers: { 'anthropic-version': '2023-06-01' },
    },
  }),
  row(['azure', 'Azure OpenAI'], 'https://{resource}.openai.azure.com/openai/v1', {
    dialect: 'azure',
    optionVariables: { api_version: 'AZURE_API_VERSION' },
    variables: { resource: 'AZURE_RESOURCE_NAME' },
    authHeader: 'api-key',
    keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'azure',
    website: 'https://learn.microsoft.com/azure/ai-foundry',
    options: { reasoningModels: openAiReasoning, responsesModels },
  }),
  row(['azure-foundry', 'Azure AI Foundry'], 'https://{resource}.services.ai.azure.com/models', {
    dialect: 'azure',
    optionVariables: { api_version: 'AZURE_FOUNDRY_API_VERSION' },
    variables: { resource: 'AZURE_FOUNDRY_RESOURCE_NAME' },
    authHeader: 'api-key',
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'azure',
    website: 'https://ai.azure.com',
    options: {
      developerRole: false,
      embeddings: plainEmbeddings,
    },
  }),
  row(['bedrock', 'Amazon Bedrock'], 'https://bedrock-runtime.{region}.amazonaws.com', {
    dialect: 'bedrock',
    variables: { region: 'AWS_REGION' },
    // Pairs of keys that sign are read by bedrock/credentials.ts.
    keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
    keyParts: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    optionVariables: { region: 'AWS_REGION' },
    embeddings: 'yes',
    abort: 'bills_all',
    pricesId: 'aws',
    website: 'https://aws.amazon.com/bedrock',
    options: { embeddings: plainEmbeddings },
  }),
  row(['cohere', 'Cohere'], 'https://api.cohere.com', {
    dialect: 'cohere',
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'cohere',
    website: 'https://dashboard.cohere.com',
    options: {
      paths: { models: '/v1/models?page_size=1000' },
      embeddings: { ...plainEmbeddings, batchLimit: 96 },
    },
  }),
  row(['google', 'Google'], 'https://generativelanguage.googleapis.com/v1beta', {
    dialect: 'google',
    authHeader: 'x-goog-api-key',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    embeddings: 'yes',
    abort: 'bills_all',
    pricesId: 'google',
    website: 'https://aistudio.google.com',
    options: { paths: { models: '/models?pageSize=1000' } },
  }),
  row(['vertex', 'Google Vertex AI'], 'https://aiplatform.googleapis.com/v1', {
    dialect: 'vertex',
    // Of API keys; a service account gets tokens instead.
    authHeader: 'x-goog-api-key',
    keyVariables: ['GOOGLE_APPLICATION_CREDENTIALS', 'VERTEX_API_KEY'],
    keyFiles: ['GOOGLE_APPLICATION_CREDENTIALS'],
    optionVariables: { project: 'GOOGLE_VERTEX_PROJECT', location: 'GOOGLE_VERTEX_LOCATION' },
    embeddings: 'yes',
    abort: 'bills_all',
    pricesId: 'google',
    website: 'https://cloud.google.com/vertex-ai',
  }),
  row(['mistral', 'Mistral AI'], 'https://api.mistral.ai/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    pricesId: 'mistral',
    website: 'https://console.mistral.ai',
    options: {
      // Whatever is outside its schema is refused with 422, in messages too.
      // https://github.com/mistralai/platform-docs-public/issues/7
      drop: [
        ...openAiOnly,
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
      developerRole: false,
      // Usage comes on the finish chunk, asked or not.
      streamUsage: false,
      embeddings: { ...plainEmbeddings, dimensionsField: 'output_dimension' },
    },
  }),
  row(['groq', 'Groq'], 'https://api.groq.com/openai/v1', {
    abort: 'bills_all',
    pricesId: 'groq',
    website: 'https://console.groq.com',
    options: {
      // Unknown fields are refused.
      drop: [...openAiOnly, 'logit_bias', 'logprobs', 'top_logprobs'],
      dropFromMessages: ['name'],
    },
  }),
  row(['xai', 'xAI'], 'https://api.x.ai/v1', {
    abort: 'stops',
    pricesId: 'x-ai',
    website: 'https://console.x.ai',
    options: {
      rename: newCap,
      reasoningTokens: 'outside',
      reasoningModels: ['grok-3-mini', 'grok-4', 'grok-build', 'grok-code'],
      reasoningModelsDrop: ['stop', 'presence_penalty', 'frequency_penalty'],
    },
  }),
  row(['deepseek', 'DeepSeek'], 'https://api.deepseek.com', {
    abort: 'stops',
    pricesId: 'deepseek',
    website: 'https://platform.deepseek.com',
    options: {
      drop: ['seed'],
      rename: oldCap,
      historyReasoning: 'required',
      developerRole: false,
    },
  }),
  row(['together', 'Together AI'], 'https://api.together.xyz/v1', {
    keyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'together',
    website: 'https://api.together.ai',
    options: {
      rename: oldCap,
      developerRole: false,
      legacyCompletions: true,
      embeddings: plainEmbeddings,
    },
  }),
  row(['fireworks', 'Fireworks AI'], 'https://api.fireworks.ai/inference/v1', {
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'fireworks',
    website: 'https://fireworks.ai',
    options: { developerRole: false, legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  row(['openrouter', 'OpenRouter'], 'https://openrouter.ai/api/v1', {
    embeddings: 'yes',
    pricesId: 'openrouter',
    website: 'https://openrouter.ai',
    options: {
      headers: { 'x-title': 'Tollgate' },
      // Its reasoning travels under its own name, in answers and in the history.
      historyReasoning: 'reasoning',
      legacyCompletions: true,
      embeddings: plainEmbeddings,
    },
  }),
  row(['perplexity', 'Perplexity'], 'https://api.perplexity.ai', {
    abort: 'bills_all',
    pricesId: 'perplexity',
    website: 'https://docs.perplexity.ai',
    options: { drop: ['stop', 'seed'], rename: oldCap, developerRole: false },
  }),
  row(['cerebras', 'Cerebras'], 'https://api.cerebras.ai/v1', {
    pricesId: 'cerebras',
    website: 'https://cloud.cerebras.ai',
    options: {
      drop: ['presence_penalty', 'frequency_penalty'],
      rename: newCap,
      historyReasoning: 'reasoning',
      developerRole: false,
      legacyCompletions: true,
    },
  }),
  row(['deepinfra', 'DeepInfra'], 'https://api.deepinfra.com/v1/openai', {
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://deepinfra.com',
    options: { legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  row(['sambanova', 'SambaNova'], 'https://api.sambanova.ai/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://cloud.sambanova.ai',
    options: { embeddings: plainEmbeddings },
  }),
  row(['nebius', 'Nebius Token Factory'], 'https://api.tokenfactory.nebius.com/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://tokenfactory.nebius.com',
    options: { legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  row(['novita', 'Novita AI'], 'https://api.novita.ai/openai', {
    embeddings: 'yes',
    abort: 'stops',
    pricesId: 'novita',
    website: 'https://novita.ai',
    options: { legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  row(['moonshot', 'Moonshot AI'], 'https://api.moonshot.ai/v1', {
    pricesId: 'moonshotai',
    website: 'https://platform.moonshot.ai',
    options: {
      drop: ['seed'],
      rename: oldCap,
      clamp: { temperature: [0, 1] },
      // The thinking models want it back in a conversation with tools, the others ignore it.
      historyReasoning: 'reasoning_content',
      developerRole: false,
      toolSchemas: 'plain',
    },
  }),
  row(['zai', 'Z.ai'], 'https://api.z.ai/api/paas/v4', {
    keyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    embeddings: 'yes',
    pricesId: 'zai',
    website: 'https://z.ai',
    options: { rename: oldCap, developerRole: false, embeddings: plainEmbeddings },
  }),
  row(['dashscope', 'Alibaba Cloud'], 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://www.alibabacloud.com/en/product/modelstudio',
    options: {
      drop: ['frequency_penalty'],
      rename: oldCap,
      developerRole: false,
      streamOnlyModels: ['qwq', 'qvq', 'qwen-omni', 'qwen3-omni', 'qwen3-30b', 'qwen3-235b'],
      embeddings: { ...plainEmbeddings, batchLimit: 10 },
    },
  }),
  row(['minimax', 'MiniMax'], 'https://api.minimax.io/v1', {
    abort: 'bills_all',
    pricesId: 'minimax',
    website: 'https://platform.minimax.io',
    options: { developerRole: false },
  }),
  row(['ark', 'BytePlus ModelArk'], 'https://ark.ap-southeast.bytepluses.com/api/v3', {
    embeddings: 'yes',
    website: 'https://www.byteplus.com/en/product/modelark',
    options: { rename: oldCap, developerRole: false, embeddings: plainEmbeddings },
  }),
  row(['siliconflow', 'SiliconFlow'], 'https://api.siliconflow.com/v1', {
    embeddings: 'yes',
    website: 'https://www.siliconflow.com',
    options: {
      rename: oldCap,
      developerRole: false,
      embeddings: { ...plainEmbeddings, batchLimit: 32 },
    },
  }),
  row(['hyperbolic', 'Hyperbolic'], 'https://api.hyperbolic.xyz/v1', {
    abort: 'stops',
    website: 'https://www.hyperbolic.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
  row(['huggingface', 'Hugging Face'], 'https://router.huggingface.co/v1', {
    keyVariables: ['HUGGINGFACE_API_KEY', 'HF_TOKEN'],
    abort: 'bills_all',
    website: 'https://huggingface.co',
    options: { developerRole: false },
  }),
  row(['nvidia', 'NVIDIA'], 'https://integrate.api.nvidia.com/v1', {
    embeddings: 'yes',
    website: 'https://build.nvidia.com',
    options: {
      rename: oldCap,
      developerRole: false,
      // Its retrieval models answer 400 without it.
      embeddings: { ...plainEmbeddings, defaults: { input_type: 'passage' } },
    },
  }),
  row(
    ['cloudflare', 'Cloudflare Workers AI'],
    'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1',
    {
      variables: { account: 'CLOUDFLARE_ACCOUNT_ID' },
      keyVariables: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'],
      embeddings: 'yes',
      abort: 'stops',
      pricesId: 'cloudflare',
      website: 'https://developers.cloudflare.com/workers-ai',
      options: { developerRole: false, embeddings: plainEmbeddings },
    },
  ),
  row(['vercel', 'Vercel AI Gateway'], 'https://ai-gateway.vercel.sh/v1', {
    keyVariables: ['VERCEL_API_KEY', 'AI_GATEWAY_API_KEY'],
    embeddings: 'yes',
    website: 'https://vercel.com/ai-gateway',
    options: { embeddings: plainEmbeddings },
  }),
  row(['friendli', 'FriendliAI'], 'https://api.friendli.ai/serverless/v1', {
    keyVariables: ['FRIENDLI_API_KEY', 'FRIENDLI_TOKEN'],
    abort: 'stops',
    website: 'https://friendli.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
  row(['chutes', 'Chutes'], 'https://llm.chutes.ai/v1', {
    abort: 'stops',
    website: 'https://chutes.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
  row(['voyage', 'Voyage AI'], 'https://api.voyageai.com/v1', {
    embeddings: 'only',
    pricesId: 'voyageai',
    website: 'https://www.voyageai.com',
    options: {
      embeddings: {
        batchLimit: 1000,
        base64: true,
        tokenArrays: false,
        dimensionsField: 'output_dimension',
      },
    },
  }),
  row(['jina', 'Jina AI'], 'https://api.jina.ai/v1', {
    embeddings: 'only',
    website: 'https://jina.ai/embeddings',
    // Base64 is asked for by another field there, `embedding_type`.
    options: { embeddings: { ...plainEmbeddings, batchLimit: 512 } },
  }),
  row(['custom', 'Custom provider'], null, {
    keyVariables: [],
    embeddings: 'yes',
    // Nothing is known of it, so nothing is asked that an older server might refuse.
    options: { extraContent: true, developerRole: false, embeddings: plainEmbeddings },
  }),
  row(['local', 'Local server'], null, {
    keyless: true,
    // Each server found on loopback has a key of its own, or none: see egress/local-servers.ts.
    keyVariables: [],
    embeddings: 'yes',
    abort: 'free',
    options: {
      rename: oldCap,
      developerRole: false,
      legacyCompletions: true,
      embeddings: plainEmbeddings,
    },
  }),
  row(['sandbox', 'Sandbox'], null, {
    dialect: 'sandbox',
    keyless: true,
    keyVariables: [],
    embeddings: 'yes',
    abort: 'free',
    options: { legacyCompletions: true },
  }),
]
