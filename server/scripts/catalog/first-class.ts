/** Providers of models of their own: what is new of them is news, at hosts it mostly repeats. */
export const makers: ReadonlySet<string> = new Set([
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'xai',
  'dashscope',
  'moonshot',
  'zai',
  'cohere',
  'perplexity',
])

/** Providers whose models must all have a price, so that setting a key suffices. */
export const firstClass: ReadonlySet<string> = new Set([
  ...makers,
  'groq',
  'together',
  'fireworks',
  'deepinfra',
  'cerebras',
  'sambanova',
  'nvidia',
  'openrouter',
  'bedrock',
  'vertex',
  'azure',
])
