import { Button, Checkbox, Group, Pill, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Empty } from '../components/empty'
import { Failure } from '../components/failure'
import { Filters } from '../components/filters'
import { Loaded } from '../components/loaded'
import { More } from '../components/more'
import { Page } from '../components/page'
import { SearchBox } from '../components/search-box'
import { count } from '../figures'
import { newPrompt, promptsQuery, type Prompt, type PromptSearch } from '../prompts'
import { yes } from '../address'
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
      {query.error ? (
        <Failure error={query.error} reset={() => void query.refetch()} />
      ) : (
        <Loaded query={query}>
          {({ pages }) => (
            <>
              {prompts.length === 0 ? (
                <Nothing search={search} />
              ) : (
                <Prompts
                  prompts={prompts}
                  total={pages[0]?.pagination.total ?? 0}
                  onChange={change}
                />
              )}
              <More query={query} />
              {search.prompt !== undefined && (
                <PromptDrawer
                  key={search.prompt}
                  id={search.prompt}
                  prompt={prompts.find(({ id }) => id === search.prompt)}
                  onMade={(prompt) => change({ ...noFilters, prompt })}
                  onClose={() => change({ prompt: undefined })}
                />
              )}
            </>
          )}
        </Loaded>
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

const Nothing = ({ search }: { search: PromptSearch }) =>
  isFiltered(search) ? (
    <Empty title="No results">Remove a filter or search for fewer words.</Empty>
  ) : (
    <Empty title="No prompts yet">
      Save texts that you use repeatedly. Write variable parts as {'{{name}}'} and fill them in when
      you use the prompt.
    </Empty>
  )

const PromptFilters = ({ search, onChange }: { search: PromptSearch; onChange: Change }) => (
  <Filters>
    <SearchBox
      label="Search"
      placeholder="Title, text or description"
      value={search.search}
      onSearch={(text) => onChange({ search: text })}
    />
    <Checkbox
      label="Favourites only"
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
  total: number
  onChange: Change
}

function Prompts({ prompts, total, onChange }: Listed) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [isDoomed, setDoomed] = useState(false)
  // Only visible prompts are deleted: another filter may hide selected ones.
  const chosen = prompts.filter(({ id }) => marked.has(id))
  return (
    <Stack gap="xs">
      <Group justify="space-between" mih={36}>
        <Text size="sm" c="dimmed" role="status">
          {chosen.length > 0
            ? `${count(chosen.length)} of ${count(total)} marked`
            : `${count(total)} found`}
        </Text>
        {chosen.length > 0 && (
          <Button size="xs" color="red" variant="light" onClick={() => setDoomed(true)}>
            Delete selected
          </Button>
        )}
      </Group>
      <PromptTable prompts={prompts} marked={marked} onMark={setMarked} onFilter={onChange} />
      {isDoomed && <DeletePrompts prompts={chosen} onClose={() => setDoomed(false)} />}
    </Stack>
  )
}
