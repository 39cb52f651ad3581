import { useQueryClient } from '@tanstack/react-query'
import { favoritesQuery, modelsKey, setFavorite } from './queries'
import { FavoriteStar } from '../../components/favorite'

interface Props {
  /** The id of a model or a collection. */
  id: string
  isOn: boolean
}

/** The favorite button of a model or a collection. */
export function FavoriteModel({ id, isOn }: Props) {
  const queries = useQueryClient()
  const change = async (isFavorite: boolean) => {
    await setFavorite(id, isFavorite)
    // A list still loading for the first time would otherwise be kept, without the change.
    await queries.cancelQueries(favoritesQuery)
    await queries.invalidateQueries({ queryKey: modelsKey })
  }
  return <FavoriteStar name={id} isOn={isOn} onChange={change} />
}
