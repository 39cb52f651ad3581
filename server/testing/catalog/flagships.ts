/** A first-class provider's flagship model at the date of the catalogue. */
export interface Flagship {
  id: string
  /** The environment for this provider alone, with an invalid key. */
  environment: Readonly<Record<string, string>>
}

const flagship = (id: string, environment: Flagship['environment']): Flagship => ({
  id,
  environment,
})

const key = 'key-that-opens-nothing'

/** A flagship of a provider that needs only a key. */
const keyed = (id: string, variable: string) => flagship(id, { [variable]: key })

/**
 * Sources: OpenAI's 6.2 Sol and Astra (2026-11-17) follow 6.1 Sol and 6 Astra; Neon (2026-11-18) is Google's newest,
 * with Hydrogen (2026-11-12) below it; Fable 5.2 is of 2026-11-10; Argon is open to paying API customers (LiteLLM's
 * notes of its first day, Runware, October); docs.x.ai has a page for Grok 4.7 alone; OpenRouter's `glm-latest` is GLM
 * 5.3; Cohere's table of models has Command A+ of May 2026; Groq's and Cerebras' production models are the gpt-oss ones.
 */
export const flagships: readonly Flagship[] = [
  keyed('openai/gpt-6.2-astra', 'OPENAI_API_KEY'),
  keyed('openai/gpt-6.2-sol', 'OPENAI_API_KEY'),
  keyed('openai/gpt-6-astra', 'OPENAI_API_KEY'),
  keyed('openai/gpt-6.1-sol', 'OPENAI_API_KEY'),
  keyed('openai/gpt-5.5-pro', 'OPENAI_API_KEY'),
  keyed('anthropic/claude-fable-5-2', 'ANTHROPIC_API_KEY'),
  keyed('google/gemini-4-neon', 'GEMINI_API_KEY'),
  keyed('google/gemini-4-hydrogen', 'GEMINI_API_KEY'),
  keyed('google/gemini-4-argon', 'GEMINI_API_KEY'),
  keyed('mistral/mistral-large-4', 'MISTRAL_API_KEY'),
  keyed('deepseek/deepseek-v4-pro', 'DEEPSEEK_API_KEY'),
  keyed('xai/grok-4.7', 'XAI_API_KEY'),
  keyed('groq/openai/gpt-oss-120b', 'GROQ_API_KEY'),
  keyed('together/moonshotai/Kimi-K3.1-Pro', 'TOGETHER_API_KEY'),
  keyed('fireworks/accounts/fireworks/models/kimi-k3p1-pro', 'FIREWORKS_API_KEY'),
  keyed('deepinfra/deepseek-ai/DeepSeek-V4-Pro', 'DEEPINFRA_API_KEY'),
  keyed('dashscope/qwen3.8-max', 'DASHSCOPE_API_KEY'),
  keyed('moonshot/kimi-k3.1-pro', 'MOONSHOT_API_KEY'),
  keyed('zai/glm-5.3', 'ZAI_API_KEY'),
  keyed('cohere/command-a-plus-05-2026', 'COHERE_API_KEY'),
  keyed('perplexity/sonar-pro', 'PERPLEXITY_API_KEY'),
  keyed('cerebras/gpt-oss-120b', 'CEREBRAS_API_KEY'),
  keyed('sambanova/DeepSeek-V3.2', 'SAMBANOVA_API_KEY'),
  keyed('nvidia/nvidia/nemotron-3-ultra-550b-a55b', 'NVIDIA_API_KEY'),
  keyed('openrouter/anthropic/claude-opus-5.5', 'OPENROUTER_API_KEY'),
  flagship('bedrock/global.anthropic.claude-opus-5-5', {
    AWS_BEARER_TOKEN_BEDROCK: key,
    AWS_REGION: 'us-east-1',
  }),
  keyed('vertex/gemini-4-argon', 'VERTEX_API_KEY'),
  flagship('azure/gpt-6.1-sol', { AZURE_API_KEY: key, AZURE_RESOURCE_NAME: 'a-resource' }),
]
