import type { Provider } from './provider'
import { responsesModels } from './responses/models'
import {
  newCap,
  oldCap,
  openAiChatOnly,
  openAiOnly,
  openAiReasoning,
  plainEmbeddings,
  plainIdentifiers,
  defineProvider,
} from './define-provider'

const openRouterTasks = {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  semantic_similarity: 'semantic_similarity',
}

/** Clouds and gateways that serve models of others. */
export const hosts: readonly Provider[] = [
  defineProvider(['azure', 'Azure OpenAI'], 'https://{resource}.openai.azure.com/openai/v1', {
    dialect: 'azure',
    optionVariables: { api_version: 'AZURE_API_VERSION' },
    variables: { resource: 'AZURE_RESOURCE_NAME' },
    authHeader: 'api-key',
    keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://learn.microsoft.com/azure/ai-foundry',
    options: {
      reasoningModels: openAiReasoning,
      responsesModels,
      takesResponses: true,
      chatOnlyModels: openAiChatOnly,
      // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/dall-e
      images: { edits: 'form' },
      // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/prompt-caching
      identifiers: {
        chat: ['user', 'prompt_cache_key'],
        completions: ['user'],
        embeddings: ['user'],
        responses: ['user', 'prompt_cache_key'],
      },
    },
  }),
  defineProvider(
    ['azure-foundry', 'Azure AI Foundry'],
    'https://{resource}.services.ai.azure.com/models',
    {
      dialect: 'azure',
      optionVariables: { api_version: 'AZURE_FOUNDRY_API_VERSION' },
      variables: { resource: 'AZURE_FOUNDRY_RESOURCE_NAME' },
      authHeader: 'api-key',
      embeddings: 'yes',
      abort: 'stops',
      website: 'https://ai.azure.com',
      options: {
        developerRole: false,
        embeddings: plainEmbeddings,
      },
    },
  ),
  defineProvider(['bedrock', 'Amazon Bedrock'], 'https://bedrock-runtime.{region}.amazonaws.com', {
    dialect: 'bedrock',
    variables: { region: 'AWS_REGION' },
    // Pairs of keys that sign are read by bedrock/credentials.ts.
    keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
    keyFields: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    optionVariables: { region: 'AWS_REGION', prompt_caching: 'BEDROCK_PROMPT_CACHING' },
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://aws.amazon.com/bedrock',
    options: { embeddings: plainEmbeddings },
  }),
  defineProvider(['vertex', 'Google Vertex AI'], 'https://aiplatform.googleapis.com/v1', {
    dialect: 'vertex',
    // For API keys; a service account gets tokens instead.
    authHeader: 'x-goog-api-key',
    keyVariables: ['GOOGLE_APPLICATION_CREDENTIALS', 'VERTEX_API_KEY'],
    keyFiles: ['GOOGLE_APPLICATION_CREDENTIALS'],
    optionVariables: {
      project: 'GOOGLE_VERTEX_PROJECT',
      location: 'GOOGLE_VERTEX_LOCATION',
      prompt_caching: 'VERTEX_PROMPT_CACHING',
    },
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://cloud.google.com/vertex-ai',
  }),
  defineProvider(['groq', 'Groq'], 'https://api.groq.com/openai/v1', {
    abort: 'bills_all',
    website: 'https://console.groq.com',
    options: {
      // https://groq.com/pricing
      minAudioSeconds: 10,
      // Unknown fields are refused.
      drop: [...openAiOnly, 'logit_bias', 'logprobs', 'top_logprobs'],
      dropFromMessages: ['name'],
      identifiers: { chat: ['user'] },
    },
  }),
  defineProvider(['together', 'Together AI'], 'https://api.together.xyz/v1', {
    keyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://api.together.ai',
    options: {
      rename: oldCap,
      developerRole: false,
      legacyCompletions: true,
      embeddings: plainEmbeddings,
      // https://docs.together.ai/reference/post-images-generations
      images: {
        size: 'sides',
        edits: 'none',
        base64: 'base64',
        drop: [
          'stream',
          'partial_images',
          'quality',
          'style',
          'background',
          'moderation',
          'output_compression',
          'user',
        ],
      },
    },
  }),
  defineProvider(['fireworks', 'Fireworks AI'], 'https://api.fireworks.ai/inference/v1', {
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://fireworks.ai',
    options: {
      developerRole: false,
      legacyCompletions: true,
      // https://docs.fireworks.ai/guides/reasoning
      historyReasoning: 'reasoning_content',
      // https://docs.fireworks.ai/guides/prompt-caching
      identifiers: {
        chat: ['user', 'prompt_cache_isolation_key'],
        completions: ['user', 'prompt_cache_isolation_key'],
      },
      embeddings: plainEmbeddings,
      images: { form: 'fireworks' },
    },
  }),
  defineProvider(['openrouter', 'OpenRouter'], 'https://openrouter.ai/api/v1', {
    optionVariables: { prompt_caching: 'OPENROUTER_PROMPT_CACHING' },
    embeddings: 'yes',
    website: 'https://openrouter.ai',
    options: {
      headers: { 'x-title': 'Tollgate' },
      // https://openrouter.ai/docs/features/prompt-caching
      cacheControl: true,
      cacheControlExtras: ['tools', 'request', 'ttl'],
      // Its reasoning travels under its own name, in requests, in answers and in the history.
      historyReasoning: 'reasoning',
      reasoningObject: true,
      legacyCompletions: true,
      identifiers: plainIdentifiers,
      // Task types have the names there that they have here.
      embeddings: {
        ...plainEmbeddings,
        tasks: { field: 'input_type', words: { '': openRouterTasks } },
        images: { models: [''], format: 'parts' },
      },
      // https://openrouter.ai/docs/api/api-reference/images/generate-an-image
      paths: { images: '/images' },
      images: {
        edits: 'openrouter',
        dataModels: [''],
        statesCost: true,
        drop: ['stream', 'partial_images', 'style', 'moderation', 'input_fidelity'],
      },
    },
  }),
  defineProvider(['cerebras', 'Cerebras'], 'https://api.cerebras.ai/v1', {
    website: 'https://cloud.cerebras.ai',
    options: {
      drop: ['presence_penalty', 'frequency_penalty'],
      rename: newCap,
      historyReasoning: 'reasoning',
      developerRole: false,
      legacyCompletions: true,
      identifiers: plainIdentifiers,
    },
  }),
  defineProvider(['deepinfra', 'DeepInfra'], 'https://api.deepinfra.com/v1/openai', {
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://deepinfra.com',
    options: {
      legacyCompletions: true,
      identifiers: plainIdentifiers,
      embeddings: plainEmbeddings,
    },
  }),
  defineProvider(['sambanova', 'SambaNova'], 'https://api.sambanova.ai/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://cloud.sambanova.ai',
    options: { embeddings: plainEmbeddings },
  }),
  defineProvider(['nebius', 'Nebius Token Factory'], 'https://api.tokenfactory.nebius.com/v1', {
    embeddings: 'yes',
    abort: 'bills_all',
    website: 'https://tokenfactory.nebius.com',
    options: { legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  defineProvider(['novita', 'Novita AI'], 'https://api.novita.ai/openai', {
    embeddings: 'yes',
    abort: 'stops',
    website: 'https://novita.ai',
    options: { legacyCompletions: true, embeddings: plainEmbeddings },
  }),
  defineProvider(['ark', 'BytePlus ModelArk'], 'https://ark.ap-southeast.bytepluses.com/api/v3', {
    embeddings: 'yes',
    website: 'https://www.byteplus.com/en/product/modelark',
    options: { rename: oldCap, developerRole: false, embeddings: plainEmbeddings },
  }),
  defineProvider(['siliconflow', 'SiliconFlow'], 'https://api.siliconflow.com/v1', {
    embeddings: 'yes',
    website: 'https://www.siliconflow.com',
    options: {
      rename: oldCap,
      developerRole: false,
      embeddings: { ...plainEmbeddings, batchLimit: 32 },
    },
  }),
  defineProvider(['hyperbolic', 'Hyperbolic'], 'https://api.hyperbolic.xyz/v1', {
    abort: 'stops',
    website: 'https://www.hyperbolic.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
  defineProvider(['huggingface', 'Hugging Face'], 'https://router.huggingface.co/v1', {
    keyVariables: ['HUGGINGFACE_API_KEY', 'HF_TOKEN'],
    abort: 'bills_all',
    website: 'https://huggingface.co',
    options: { developerRole: false },
  }),
  defineProvider(['nvidia', 'NVIDIA'], 'https://integrate.api.nvidia.com/v1', {
    embeddings: 'yes',
    website: 'https://build.nvidia.com',
    options: {
      rename: oldCap,
      developerRole: false,
      // Its retrieval models answer 400 without it.
      embeddings: {
        ...plainEmbeddings,
        defaults: { input_type: 'passage' },
        tasks: {
          field: 'input_type',
          words: { '': { search_query: 'query', search_document: 'passage' } },
        },
      },
    },
  }),
  defineProvider(
    ['cloudflare', 'Cloudflare Workers AI'],
    'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1',
    {
      variables: { account: 'CLOUDFLARE_ACCOUNT_ID' },
      keyVariables: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'],
      embeddings: 'yes',
      abort: 'stops',
      website: 'https://developers.cloudflare.com/workers-ai',
      options: { developerRole: false, embeddings: plainEmbeddings },
    },
  ),
  defineProvider(['vercel', 'Vercel AI Gateway'], 'https://ai-gateway.vercel.sh/v1', {
    keyVariables: ['VERCEL_API_KEY', 'AI_GATEWAY_API_KEY'],
    embeddings: 'yes',
    website: 'https://vercel.com/ai-gateway',
    options: { embeddings: plainEmbeddings },
  }),
  defineProvider(['friendli', 'FriendliAI'], 'https://api.friendli.ai/serverless/v1', {
    keyVariables: ['FRIENDLI_API_KEY', 'FRIENDLI_TOKEN'],
    abort: 'stops',
    website: 'https://friendli.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
  defineProvider(['chutes', 'Chutes'], 'https://llm.chutes.ai/v1', {
    abort: 'stops',
    website: 'https://chutes.ai',
    options: { rename: oldCap, developerRole: false, legacyCompletions: true },
  }),
]
