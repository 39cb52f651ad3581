import type { GenerateSpecOptions } from 'hono-openapi'

/** What the description of the interface says beside its routes. */
export const description: Partial<GenerateSpecOptions> = {
  documentation: {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '0.1.0',
      description:
        'A gateway to language models. Existing OpenAI clients work with `{base_url}/v1` and a Tollgate key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A service key, `sk-tg-...`' },
      },
    },
    tags: [{ name: 'Models', description: 'The OpenAI wire format' }],
  },
  exclude: [/^\/api\/admin/, /^\/healthz$/, /^\/readyz$/, /^\/docs/],
  excludeStaticFile: false,
  defaultValidationErrorResponse: false,
}
