import { Button, Checkbox, Group, Pill, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Filters } from '../../components/filters'
import { ResourceList } from '../../components/resource-list'
import { toRows } from '../../api/paging'
import { Page } from '../../components/page'
import { SearchBox } from '../../components/search-box'
import { count } from '../../format/figures'
import { newPrompt, promptsQuery, type Prompt, type PromptSearch } from './queries'
import { yes } from '../../url/address'
import { DeletePrompts } from './delete-prompts'
import { PromptDrawer } from './prompt-drawer'
import { PromptTable } from './prompt-table'

type Change = (changed: PromptSearch) => void

export function PromptsPage() {
  const search = useSearch({ from: '/home/prompts' })
  const navigate = useNavigate({ from: '/prompts' })
  const query = useInfiniteQuery({ ...promptsQuery(search), placeholderData: keepPreviousData })
  const change: Change = (changed) =>
    void navigate({
      search: (before) => ({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    })
  const write = <Button onClick={() => change({ prompt: newPrompt })}>New prompt</Button>
  const prompts = query.data?.pages.flatMap((page) => page.prompts) ?? []
  return (
    <Page title="Prompts" about="Reusable prompts with variables." actions={write}>
      <PromptFilters search={search} onChange={change} />
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, (page) => page.prompts)}
        plural="prompts"
        empty={noPrompts}
        isFiltered={isFiltered(search)}
      >
        {(listed) => <Prompts prompts={listed} onChange={change} />}
      </ResourceList>
      {query.data && search.prompt !== undefined && (
        <PromptDrawer
          key={search.prompt}
          id={search.prompt}
          prompt={prompts.find(({ id }) => id === search.prompt)}
          onCreated={(prompt) => change({ ...noFilters, prompt })}
          onClose={() => change({ prompt: undefined })}
        />
      )}
    </Page>
  )
}

const noFilters = {
  search: undefined,
  category: undefined,
  tag: undefined,
  favorites: undefined,
}

const isFiltered = (search: PromptSearch) =>
  Object.keys(noFilters).some((name) => Reflect.get(search, name) !== undefined)

const noPrompts = {
  title: 'No prompts yet',
  text: 'Save texts that you use repeatedly. Write variable parts as {{name}} and fill them in when you use the prompt.',
}

const PromptFilters = ({ search, onChange }: { search: PromptSearch; onChange: Change }) => (
  <Filters>
    <SearchBox
      label="Search"
      placeholder="Title, text or description"
      value={search.search}
      onSearch={(text) => onChange({ search: text })}
    />
    <Checkbox
      label="Favorites only"
      checked={search.favorites === yes}
      onChange={(event) => onChange({ favorites: event.currentTarget.checked ? yes : undefined })}
    />
    {(['category', 'tag'] as const).map((name) => {
      const value = search[name]
      if (value === undefined) return null
      return (
        <Pill
          key={name}
          withRemoveButton
          removeButtonProps={{ 'aria-label': `Any ${name}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onChange({ [name]: undefined })}
        >
          {name}: {value}
        </Pill>
      )
    })}
  </Filters>
)

interface Listed {
  prompts: readonly Prompt[]
  onChange: Change
}

function Prompts({ prompts, onChange }: Listed) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [isDeleting, setDeleting] = useState(false)
  // Only visible prompts are deleted: another filter may hide selected ones.
  const chosen = prompts.filter(({ id }) => marked.has(id))
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {count(chosen.length)} selected
        </Text>
        <Button
          size="xs"
          color="red"
          variant="light"
          disabled={chosen.length === 0}
          onClick={() => setDeleting(true)}
        >
          Delete selected
        </Button>
      </Group>
      <PromptTable prompts={prompts} marked={marked} onMark={setMarked} onFilter={onChange} />
      {isDeleting && <DeletePrompts prompts={chosen} onClose={() => setDeleting(false)} />}
    </Stack>
  )
}
