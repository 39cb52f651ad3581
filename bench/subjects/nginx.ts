import { join } from 'node:path'
import { startProgram } from './program'
import { Missing, type Subject } from './subject'

/**
 * Debian's nginx as a bare proxy: one worker, keep-alive to the provider, no buffering of
 * answers, bodies in memory, no log.
 */
const configuration = (port: number, upstreamPort: number, directory: string) => `
daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log stderr error;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 8192; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join(' ')}
  tcp_nodelay on;
  keepalive_requests 1000000000;
  client_body_buffer_size 1m;
  client_max_body_size 100m;
  upstream provider {
    server 127.0.0.1:${upstreamPort};
    keepalive 2048;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`

/** Starts nginx. Throws Missing where it is not installed. */
export async function startNginx(): Promise<Subject> {
  const nginx = Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })
  if (!nginx) throw new Missing('nginx is not installed: apt-get install nginx')
  return startProgram({
    name: 'nginx',
    title: 'nginx, a bare proxy',
    governance: { setting: 'bare' },
    async command({ port, provider, directory }) {
      const path = join(directory, 'nginx.conf')
      await Bun.write(path, configuration(port, provider.port, directory))
      return [nginx, '-p', directory, '-c', path]
    },
  })
}
