/** Returns a path of the router as OpenAPI has it: `/api/keys/:id{.+}` -> `/api/keys/{id}`. */
export const toTemplatePath = (path: string) => path.replaceAll(/:(\w+)(?:\{[^/]*\})?/g, '{$1}')
