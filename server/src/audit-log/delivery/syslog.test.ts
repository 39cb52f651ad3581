import { expect, test } from 'bun:test'
import { parseSyslogUrl, toSyslogFrame, toSyslogMessage } from './syslog'
import type { AuditEntry } from '../entries'

const entry: AuditEntry = {
  log: 'organization',
  organization_id: 'org_1',
  id: 'trail_1',
  actor: 'user_1',
  actor_email: 'zoë@example.com',
  key_id: 'session',
  action: 'member.suspended',
  object_id: 'user_2',
  object_name: 'line\nbreak 😀',
  before: { status: 'active' },
  after: { status: 'suspended' },
  request_id: 'req_1',
  client_address: '192.0.2.1',
  created_at: '2026-11-30T15:00:00.123Z',
}

/** The header of RFC 5424, 6: priority, version, time, host, application, process, message id, structured data. */
const form =
  /^<(\d{1,3})>1 (\S+) ([\x21-\x7E]{1,255}) ([\x21-\x7E]{1,48}) (-) ([\x21-\x7E]{1,32}) (-) (.*)$/

test('an entry is a message of RFC 5424 whose text is the entry as JSON', () => {
  const [, priority, time, host, app, , id, , text = ''] =
    form.exec(toSyslogMessage(entry, 'gateway 1.example')) ?? []
  // Facility 13 is the log audit; severity 5 is a notice.
  expect([priority, time, host, app, id]).toEqual([
    String(13 * 8 + 5),
    entry.created_at,
    'gateway1.example',
    'tollgate',
    'member.suspended',
  ])
  expect(JSON.parse(text)).toEqual(entry)
})

test('a message is ASCII without line ends, so that its length counts its octets', () => {
  const message = toSyslogMessage(entry, 'h')
  expect(message).toMatch(/^[\x20-\x7E]*$/)
  expect(toSyslogFrame(message)).toBe(`${Buffer.byteLength(message)} ${message}`)
})

test('a message of operators is named after the kind of its object, within 32 characters', () => {
  const operated: AuditEntry = {
    log: 'operators',
    id: 'trail_2',
    actor: 'operator_key',
    actor_email: null,
    method: 'PUT',
    route: '/api/admin/config',
    object_kind: 'a kind with a very long name, and more',
    object_id: null,
    concerned: [],
    sent: null,
    request_id: 'req_2',
    client_address: null,
    created_at: entry.created_at,
  }
  const [, , , , , , id = ''] = form.exec(toSyslogMessage(operated, '')) ?? []
  expect(id).toBe('operator.akindwithaverylongname,'.slice(0, 32))
})

test.each([
  ['tls://SIEM.example.com:6514', { host: 'siem.example.com', port: 6514, isSecure: true }],
  ['tcp://10.0.0.7:601', { host: '10.0.0.7', port: 601, isSecure: false }],
  ['tls://[2001:db8::1]:6514/', { host: '2001:db8::1', port: 6514, isSecure: true }],
  ['tls://siem.example.com', undefined],
  ['tls://siem.example.com:0', undefined],
  ['tls://siem.example.com:65536', undefined],
  ['udp://siem.example.com:514', undefined],
  ['tls://user@siem.example.com:6514', undefined],
  ['tls://siem.example.com:6514/path', undefined],
])('reads %s', (url, server) => {
  expect(parseSyslogUrl(url)).toEqual(server)
})
