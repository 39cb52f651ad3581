/** What `tollgate connect --help` prints. */
export const help = `Usage: tollgate connect --url <address> [--serve <provider>[=<address>]]...

Lends what this machine can reach to a Tollgate elsewhere: it dials out, announces models and tools, and passes
requests on. Keys of providers stay here. The gateway token comes from TOLLGATE_GATEWAY_TOKEN, or from a file.

  --url <address>      of Tollgate: https://tollgate.example.com
  --serve <provider>   a provider by its usual address, with the key of its usual variable: openai
  --serve <provider>=<address>
                       a server that speaks the OpenAI format; ollama, vllm, lmstudio and llamacpp are "local"
  --config <file>      servers, tools and all else, in JSON: docs/self-hosted.md
  --check              ask each server, tell what would be served, and end
  --insecure           allow http to another machine: the token goes in the clear
  --json               lines for programs
  --help               this text

Without a server it looks for Ollama, vLLM, LM Studio and llama.cpp on this machine. SIGTERM or Ctrl-C ends it.
Exit codes: 0 stopped or all well, 1 nothing to serve, 2 not understood, 3 token refused or revoked,
4 replaced by another agent with the same token, 5 another version of the protocol is wanted.
`
