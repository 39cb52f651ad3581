import { Badge, Combobox, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { accountNavigation, toPermittedNavigation } from './navigation'
import { foundQuery, isSearchable, type FoundRequest } from './request-search'
import { useOperatorAccess } from '../api/role'
import { When } from '../components/when'
import { LogStatus } from '../features/logs/log-status'
import { toRequestId } from '../features/logs/queries'

const typingMs = 200

/** An entry of the palette. */
interface Entry {
  /** Distinguishes it from all others. */
  id: string
  content: ReactNode
  aside?: ReactNode
  go: () => unknown
}

interface EntryGroup {
  label: string
  entries: readonly Entry[]
}

/** Finds pages by name, and requests by id, part of an id or text of an error. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const words = text.trim()
  const pages = usePages(words)
  const { requests, ...search } = useRequests(words)
  const groups = [pages, requests].filter(({ entries }) => entries.length > 0)
  const entries = groups.flatMap((group) => group.entries)
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose })
  // Results come while the selection is on another entry.
  const ids = entries.map(({ id }) => id).join(' ')
  useEffect(() => {
    combobox.selectFirstOption()
  }, [ids])
  const choose = (chosen: string) => {
    onClose()
    entries.find(({ id }) => id === chosen)?.go()
  }
  const whole = toRequestId(words)
  const isFound = requests.entries.some(({ id }) => id === whole)
  useEffect(() => {
    if (isFound && whole !== undefined) choose(whole)
  }, [isFound])
  return (
    <Modal
      opened
      onClose={onClose}
      title="Search"
      size="lg"
      padding={0}
      yOffset="10vh"
      withCloseButton={false}
      // The dialog has its name; people see the field instead of the title.
      styles={{ header: { display: 'none' } }}
    >
      <Combobox store={combobox} onOptionSubmit={choose}>
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            data-autofocus
            variant="unstyled"
            size="md"
            px="md"
            py={6}
            aria-label="Search pages and requests"
            placeholder="Go to a page, or find a request by id or error"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <section aria-label="Results" tabIndex={0} className="palette">
          <Combobox.Options p={6} aria-label="Results">
            {groups.map((group) => (
              <Group key={group.label} group={group} />
            ))}
          </Combobox.Options>
          <Note words={words} {...search} />
        </section>
      </Combobox>
    </Modal>
  )
}

const Group = ({ group: { label, entries } }: { group: EntryGroup }) => (
  <Combobox.Group label={label}>
    {entries.map(({ id, content, aside }) => (
      <Combobox.Option key={id} value={id}>
        <div style={{ display: 'flex', alignItems: 'center', gap: 12 }}>
          <div style={{ flex: 1, minWidth: 0 }}>{content}</div>
          {aside}
        </div>
      </Combobox.Option>
    ))}
  </Combobox.Group>
)

/** The state of a search of requests. */
interface SearchState {
  isSearching: boolean
  /** The number of requests that were found. */
  found: number
  error: Error | null
}

const Note = ({ words, ...search }: SearchState & { words: string }) => (
  <Text size="xs" c="dimmed" px="md" pb="sm" role="status">
    {isSearchable(words)
      ? noteOf(search)
      : 'Enter the id of a request, 8 or more characters of it, or a text of its error.'}
  </Text>
)

function noteOf({ isSearching, found, error }: SearchState): string | undefined {
  if (isSearching) return 'Searching requests…'
  if (error) return `Requests could not be searched: ${error.message}`
  if (found > 0) return undefined
  return 'No request has this id, or this text in an error of the last 7 days.'
}

/** The pages whose names contain the words; all of them where nothing is entered. */
function usePages(words: string): EntryGroup {
  const { isOperator, may } = useOperatorAccess()
  const navigate = useNavigate()
  const wanted = words.toLowerCase()
  const areas = [
    { area: undefined, groups: accountNavigation },
    ...(isOperator ? [{ area: 'Operator', groups: toPermittedNavigation(may) }] : []),
  ]
  const pages = areas.flatMap(({ area, groups }) =>
    groups.flatMap(({ links }) => links.map((link) => ({ ...link, area }))),
  )
  const entries = pages
    .filter(({ label }) => label.toLowerCase().includes(wanted))
    .map(({ to, label, area }) => ({
      id: to,
      content: label,
      aside: area && <Badge variant="default">{area}</Badge>,
      go: () => navigate({ to, search: {} }),
    }))
  return { label: 'Pages', entries }
}

/** The requests that were found once typing pauses, and the way to all of them. */
function useRequests(words: string): SearchState & { requests: EntryGroup } {
  const { may } = useOperatorAccess()
  const navigate = useNavigate()
  const [settled] = useDebouncedValue(words, typingMs)
  const isWanted = isSearchable(words)
  const {
    data: found = [],
    isFetching,
    error,
  } = useQuery({
    ...foundQuery(settled, may('GET /api/admin/request-logs')),
    enabled: isWanted && isSearchable(settled),
  })
  const open = ({ id, email }: FoundRequest) =>
    email === undefined
      ? navigate({ to: '/logs', search: { open: id } })
      : navigate({ to: '/operator/requests', search: { open: id } })
  const entries: Entry[] = found.map((request) => ({
    id: request.id,
    content: <RequestLine request={request} />,
    aside: <LogStatus log={request} />,
    go: () => open(request),
  }))
  entries.push({
    id: 'logs',
    content: `Find “${words}” in logs`,
    go: () => navigate({ to: '/logs', search: { search: words } }),
  })
  return {
    requests: { label: 'Requests', entries: isWanted ? entries : [] },
    isSearching: isFetching || settled !== words,
    found: found.length,
    error,
  }
}

const RequestLine = ({ request }: { request: FoundRequest }) => (
  <>
    <Text size="sm" truncate>
      {request.error?.message ?? (request.model || request.id)}
    </Text>
    <Text size="xs" c="dimmed" truncate>
      <When at={request.created_at} withSeconds /> · {request.id}
      {request.email !== undefined && ` · ${request.email ?? request.user_id}`}
    </Text>
  </>
)
