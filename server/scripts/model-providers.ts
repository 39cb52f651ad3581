import type { Listing } from './model-sources'

/**
 * Under which names each source files a provider of ours, and its id in the price data, which strike
 * what is no longer sold from the lists that keep everything.
 */
export interface Names {
  piAi?: string
  tokenlens?: string[]
  litellm?: string[]
  /** Removed from litellm's ids; with `only`, what lacks it is a price class and no model. */
  prefix?: string
  only?: boolean
  /** Ids with a slash are regions or sizes of a model, not models. */
  flat?: boolean
  prices?: string
}

/** Every provider that has, or is to have, a row in the registry. */
export const providerNames: Record<string, Names> = {
  anthropic: {
    piAi: 'anthropic',
    tokenlens: ['anthropic'],
    litellm: ['anthropic'],
    flat: true,
    prices: 'anthropic',
  },
  ark: { litellm: ['volcengine'], prefix: 'volcengine/' },
  azure: {
    piAi: 'azure',
    tokenlens: ['azure'],
    litellm: ['azure', 'azure_text'],
    prefix: 'azure/',
    only: true,
    flat: true,
    prices: 'azure',
  },
  'azure-foundry': {
    litellm: ['azure_ai'],
    prefix: 'azure_ai/',
    only: true,
    flat: true,
    prices: 'azure',
  },
  bedrock: {
    piAi: 'amazon-bedrock',
    tokenlens: ['amazon-bedrock'],
    litellm: ['bedrock', 'bedrock_converse'],
    flat: true,
    prices: 'aws',
  },
  cerebras: {
    piAi: 'cerebras',
    tokenlens: ['cerebras'],
    litellm: ['cerebras'],
    prefix: 'cerebras/',
    prices: 'cerebras',
  },
  chutes: { tokenlens: ['chutes'] },
  cloudflare: {
    piAi: 'cloudflare-workers-ai',
    tokenlens: ['cloudflare-workers-ai'],
    litellm: ['cloudflare'],
    prefix: 'cloudflare/',
    prices: 'cloudflare',
  },
  cohere: { litellm: ['cohere', 'cohere_chat'], prefix: 'cohere/', prices: 'cohere' },
  dashscope: { tokenlens: ['alibaba'], litellm: ['dashscope'], prefix: 'dashscope/' },
  deepinfra: { tokenlens: ['deepinfra'], litellm: ['deepinfra'], prefix: 'deepinfra/' },
  deepseek: {
    piAi: 'deepseek',
    tokenlens: ['deepseek'],
    litellm: ['deepseek'],
    prefix: 'deepseek/',
    prices: 'deepseek',
  },
  fireworks: {
    piAi: 'fireworks',
    tokenlens: ['fireworks-ai'],
    litellm: ['fireworks_ai', 'fireworks_ai-embedding-models'],
    prefix: 'fireworks_ai/',
    only: true,
    prices: 'fireworks',
  },
  friendli: { litellm: ['friendliai'], prefix: 'friendliai/' },
  google: {
    piAi: 'google',
    tokenlens: ['google'],
    litellm: ['gemini'],
    prefix: 'gemini/',
    flat: true,
    prices: 'google',
  },
  groq: { piAi: 'groq', tokenlens: ['groq'], litellm: ['groq'], prefix: 'groq/', prices: 'groq' },
  huggingface: { piAi: 'huggingface', tokenlens: ['huggingface'] },
  hyperbolic: { litellm: ['hyperbolic'], prefix: 'hyperbolic/' },
  minimax: { piAi: 'minimax', litellm: ['minimax'], prefix: 'minimax/', prices: 'minimax' },
  mistral: {
    piAi: 'mistral',
    tokenlens: ['mistral'],
    litellm: ['mistral', 'codestral', 'text-completion-codestral'],
    prefix: 'mistral/',
    only: true,
    flat: true,
    prices: 'mistral',
  },
  moonshot: {
    piAi: 'moonshotai',
    tokenlens: ['moonshotai'],
    litellm: ['moonshot'],
    prefix: 'moonshot/',
    prices: 'moonshotai',
  },
  nebius: { litellm: ['nebius'], prefix: 'nebius/' },
  // Without `prices`: the list is fresher than the price data, which would strike most of it.
  novita: { litellm: ['novita'], prefix: 'novita/' },
  nvidia: { piAi: 'nvidia', tokenlens: ['nvidia'], litellm: ['nvidia_nim'], prefix: 'nvidia_nim/' },
  openai: {
    piAi: 'openai',
    tokenlens: ['openai'],
    litellm: ['openai', 'text-completion-openai'],
    flat: true,
    prices: 'openai',
  },
  openrouter: {
    piAi: 'openrouter',
    tokenlens: ['openrouter'],
    litellm: ['openrouter'],
    prefix: 'openrouter/',
    prices: 'openrouter',
  },
  perplexity: {
    tokenlens: ['perplexity'],
    litellm: ['perplexity'],
    prefix: 'perplexity/',
    flat: true,
    prices: 'perplexity',
  },
  sambanova: { litellm: ['sambanova'], prefix: 'sambanova/' },
  together: {
    piAi: 'together',
    tokenlens: ['togetherai'],
    litellm: ['together_ai'],
    prefix: 'together_ai/',
    only: true,
    prices: 'together',
  },
  vercel: {
    piAi: 'vercel-ai-gateway',
    tokenlens: ['vercel'],
    litellm: ['vercel_ai_gateway'],
    prefix: 'vercel_ai_gateway/',
  },
  vertex: {
    piAi: 'google-vertex',
    tokenlens: ['google-vertex', 'google-vertex-anthropic'],
    litellm: [
      'vertex_ai',
      'vertex_ai-language-models',
      'vertex_ai-embedding-models',
      'vertex_ai-anthropic_models',
      'vertex_ai-mistral_models',
      'vertex_ai-llama_models',
      'vertex_ai-deepseek_models',
      'vertex_ai-qwen_models',
      'vertex_ai-openai_models',
      'vertex_ai-zai_models',
    ],
    prefix: 'vertex_ai/',
    prices: 'google',
  },
  voyage: { litellm: ['voyage'], prefix: 'voyage/', prices: 'voyageai' },
  xai: { piAi: 'xai', tokenlens: ['xai'], litellm: ['xai'], prefix: 'xai/', prices: 'x-ai' },
  zai: { piAi: 'zai', tokenlens: ['zai'], litellm: ['zai'], prefix: 'zai/', prices: 'zai' },
}

/**
 * Embedding models of a provider none of the sources lists.
 * @see https://jina.ai/models
 */
export const jina: Listing = new Map([
  [
    'jina-embeddings-v3',
    { category: 'embedding', name: 'Jina Embeddings v3', dimensions: 1024, created: 1726617600 },
  ],
  [
    'jina-embeddings-v4',
    {
      category: 'embedding',
      name: 'Jina Embeddings v4',
      dimensions: 2048,
      input: ['text', 'image'],
      created: 1750723200,
    },
  ],
])
