/** The text of `tollgate connect --help`. */
export const help = `Usage: tollgate connect --url <address> [--serve <provider>[=<address>]]...

Serves models and tools that this machine can reach through a Tollgate elsewhere: it dials out, announces them, and
forwards requests. Provider keys stay here. The gateway token comes from TOLLGATE_GATEWAY_TOKEN, or from a file.

  --url <address>      of Tollgate: https://tollgate.example.com
  --serve <provider>   a provider by its usual address, with the key of its usual variable: openai
  --serve <provider>=<address>
                       a server that speaks the OpenAI format; ollama, vllm, lmstudio and llamacpp are "local"
  --config <file>      servers, tools and other settings, in JSON: docs/concepts/self-hosted.md
  --check              check each server, print what would be served, and exit
  --insecure           allow http to another machine: the token is sent unencrypted
  --json               lines for programs
  --help               this text

Without a server it looks for Ollama, vLLM, LM Studio and llama.cpp on this machine. SIGTERM or Ctrl-C stops it.
Exit codes: 0 stopped or all well, 1 nothing to serve, 2 invalid command line, 3 token rejected or revoked,
4 replaced by another agent with the same token, 5 unsupported protocol version.
`
