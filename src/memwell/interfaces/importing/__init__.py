"""Import of plain chats: files of messages in, plain writes through the public facade out."""
