import { Anchor, Button, Checkbox, Group, Table, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { FavoriteStar } from '../../components/favorite'
import { Moment } from '../../components/moment'
import { count } from '../../format/figures'
import { promptsKey, type Prompt, type PromptSearch } from './queries'

interface Props {
  prompts: readonly Prompt[]
  /** The ids of the selected prompts. */
  marked: ReadonlySet<string>
  onMark: (marked: ReadonlySet<string>) => void
  onFilter: (changed: PromptSearch) => void
}

export function PromptTable({ prompts, marked, onMark, onFilter }: Props) {
  const isAll = prompts.every(({ id }) => marked.has(id))
  const mark = (id: string, isOn: boolean) => {
    const others = [...marked].filter((one) => one !== id)
    onMark(new Set(isOn ? [...others, id] : others))
  }
  const markAll = (
    <Checkbox
      aria-label="Select all"
      checked={isAll}
      indeterminate={!isAll && prompts.some(({ id }) => marked.has(id))}
      onChange={() => onMark(new Set(isAll ? [] : prompts.map(({ id }) => id)))}
    />
  )
  return (
    <ListTable
      columns={[
        { name: 'Select', head: markAll, position: 'lead' },
        { name: 'Favorite', isHidden: true },
        { name: 'Prompt', position: 'title' },
        { name: 'Category and tags', position: 'wide' },
        { name: 'Used', isNumber: true },
        'Updated',
      ]}
      minWidth={720}
    >
      {prompts.map((one) => (
        <PromptRow
          key={one.id}
          prompt={one}
          isMarked={marked.has(one.id)}
          onMark={(isOn) => mark(one.id, isOn)}
          onFilter={onFilter}
        />
      ))}
    </ListTable>
  )
}

interface Row extends Pick<Props, 'onFilter'> {
  prompt: Prompt
  isMarked: boolean
  onMark: (isMarked: boolean) => void
}

function PromptRow({ prompt, isMarked, onMark, onFilter }: Row) {
  const queries = useQueryClient()
  const { id, title, category, tags } = prompt
  const favor = async (is_favorite: boolean) => {
    await api.PUT('/api/user/prompts/{id}', { params: { path: { id } }, body: { is_favorite } })
    await queries.invalidateQueries({ queryKey: promptsKey })
  }
  return (
    <Table.Tr>
      <Table.Td w={44}>
        <Checkbox
          aria-label={`Select ${title}`}
          checked={isMarked}
          onChange={(event) => onMark(event.currentTarget.checked)}
        />
      </Table.Td>
      <Table.Td w={44}>
        <FavoriteStar name={title} isOn={prompt.is_favorite} onChange={favor} />
      </Table.Td>
      <Table.Td maw={380}>
        <PromptLink id={id} title={title} />
        <Text size="xs" c="dimmed" lineClamp={1} style={{ overflowWrap: 'anywhere' }}>
          {prompt.description ?? prompt.content}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {category !== null && (
            <Button size="compact-xs" variant="default" onClick={() => onFilter({ category })}>
              {category}
            </Button>
          )}
          {tags.map((tag) => (
            <Button key={tag} size="compact-xs" variant="light" onClick={() => onFilter({ tag })}>
              {tag}
            </Button>
          ))}
        </Group>
      </Table.Td>
      <Table.Td ta="right">{count(prompt.usage_count)}</Table.Td>
      <Table.Td>
        <Moment at={prompt.updated_at} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Opens a prompt beside the list. */
const PromptLink = ({ id, title }: { id: string; title: string }) => (
  <Anchor
    fw={500}
    size="sm"
    style={{ overflowWrap: 'anywhere' }}
    renderRoot={(props) => (
      <Link
        from="/prompts"
        to="."
        search={(search) => ({ ...search, prompt: id })}
        resetScroll={false}
        {...props}
      />
    )}
  >
    {title}
  </Anchor>
)
